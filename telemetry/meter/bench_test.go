package meter

import (
	"context"
	"fmt"
	"testing"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// BenchmarkBatchEnd tells the cost per command, by batch size and option.
func BenchmarkBatchEnd(b *testing.B) {
	for name, o := range map[string]Options{
		"plain":     {},
		"commands":  {Commands: true},
		"exemplars": {Sampler: func(context.Context) (Trace, bool) { return Trace{}, true }},
	} {
		for _, size := range []int{1, 8, 64, 512} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				ev := New(o).Attach(telemetry.Pipe{Name: "p"}, nil)
				ctx, batch := context.Background(), batch(size)
				b.ReportAllocs()
				for b.Loop() {
					ev.BatchEnd(ctx, batch)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/command")
			})
		}
	}
}
