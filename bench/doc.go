// Package bench holds the Go benchmarks of autopipe and its rivals. The comparison
// that the README quotes is bench/cmd/compare; these are for looking at one thing at
// a time, and for benchstat.
//
// Their names are those of go-redis's own autopipelining benchmarks, so that people
// who know these find their way. Two rules hold for all:
//
//   - Only executed commands count: a command's reply is read before it is counted.
//   - Rates divide by the timed region, from the first command until the last reply,
//     and not by the time that was planned.
package bench
