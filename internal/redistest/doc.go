// Package redistest runs real Redis processes and real network faults for
// tests, the demo and the benchmarks.
//
//   - [Start] and [Run] give one redis-server with a directory and a port of
//     its own; [Server.Kill], [Server.Freeze] and [Server.Restart] hurt it.
//   - [Shared] gives one server to all tests of a package, see [Main].
//   - [StartCluster] and [StartSentinel] build the two larger set-ups.
//   - [NewProxy] puts a TCP proxy that understands the Redis protocol before
//     any of them, to lose connections and replies at an exact point.
//
// Everything that is started ends with its Close, leaves no goroutine, and
// dies with the process that started it.
//
// The package does not import "testing", so that programs can use it too.
package redistest

// TB is the part of testing.TB that this package needs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Cleanup(f func())
}
