package bench

import (
	"runtime"
	"testing"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

// One round trip per command, one caller per processor. Its ns/op is this machine's
// round trip; read every other number against it.
func BenchmarkIndividualCommands(b *testing.B) {
	n := runtime.GOMAXPROCS(0)
	perCommand(b, client(b, "plain"), work(b, load.Set, 16, n), n)
}

// Pipelines of 100 built by hand, one after the other: what a command costs at best,
// for those who write pipeline code.
func BenchmarkManualPipeline(b *testing.B) {
	w := work(b, load.Set, 16, 1)
	w.Window = 100
	perCommand(b, client(b, "pipeline"), w, 1)
}

// What the engine costs per command: among 256 callers, and for a lone one, who must
// pay nothing beyond the round trip.
func BenchmarkDispatchPath(b *testing.B) {
	for _, x := range []struct {
		name    string
		callers int
	}{{"Blocking", 256}, {"Lone", 1}} {
		b.Run(x.name, func(b *testing.B) {
			run := func(b *testing.B, variant string) {
				perCommand(b, client(b, variant), work(b, load.Set, 16, x.callers), x.callers)
			}
			b.Run("plain", func(b *testing.B) { run(b, "plain") })
			both(b, "autopipe", "goredis", run)
		})
	}
}
