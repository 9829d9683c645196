package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

const (
	burst = 60 * time.Millisecond // how long all goroutines keep sending
	shown = 6                     // batches in the table
)

// lastBatches: what an observer hears of each batch.
var lastBatches = step{
	title: fmt.Sprintf("Every batch explains itself: the last %d after %d ms of GETs", shown, burst.Milliseconds()),
	code:  []string{"autopipe.New(autopipe.WithObserver(o))   // o hears every batch"},
	run: func(ctx context.Context, g *guide) error {
		g.seen.reset()
		var failed firstError
		var over atomic.Bool
		var last []seenBatch
		// Looked at while all still send: the batches after that are the small ones of a load that ends.
		var wg sync.WaitGroup
		wg.Go(func() {
			time.Sleep(burst)
			last = g.seen.last(shown)
			over.Store(true)
		})
		together(callers, func(i int) {
			key := g.keys.key("own", i)
			for !over.Load() {
				failed.set(g.rdb.Get(ctx, key).Err())
			}
		})
		wg.Wait()
		if failed.err != nil {
			return failed.err
		}
		t := table{head: []string{right + "commands", "left because", right + "median wait", right + "round trip"}}
		var reasons [telemetry.NumFlushReasons]bool
		for _, b := range last {
			reasons[b.reason] = true
			t.add(number(b.size), b.reason.String(), millis(b.wait), millis(b.roundTrip))
		}
		g.s.table("   ", t)
		for i, occurs := range reasons {
			if r := telemetry.FlushReason(i); occurs {
				g.s.block(fmt.Sprintf("   %-6s ", r), r.Doc())
			}
		}
		return nil
	},
}
