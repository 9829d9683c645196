package bench

import (
	"testing"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

const manyCallers = 2000

// The headline: the same work, 2000 callers, in three ways.
//
//   - Normal: each Set is a round trip of its own.
//   - AutoPipelineBlocking: the same calls; the client batches across the callers.
//   - AutoPipelineWindowed: each caller sends 200 commands, then reads 200 replies.
//
// The last once more with GET, which costs the server less: it shows whether the
// client or the server is the limit.
func BenchmarkAutoPipelineThroughput(b *testing.B) {
	run := func(mix load.Mix) func(b *testing.B, variant string) {
		return func(b *testing.B, variant string) {
			c := client(b, variant)
			throughput(b, c, work(b, mix, 16, manyCallers), manyCallers)
		}
	}
	b.Run("Normal", func(b *testing.B) { run(load.Set)(b, "plain") })
	b.Run("AutoPipelineBlocking", func(b *testing.B) { both(b, "autopipe", "goredis-parallel", run(load.Set)) })
	b.Run("AutoPipelineWindowed", func(b *testing.B) { both(b, "autopipe-window", "goredis-async", run(load.Set)) })
	b.Run("AutoPipelineWindowedGET", func(b *testing.B) { both(b, "autopipe-window", "goredis-async", run(load.Get)) })
}
