package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// keep is how many batches a recorder remembers.
const keep = 256

// recorder is an observer that remembers the last batches.
type recorder struct {
	mu      sync.Mutex
	batches []seenBatch
}

// seenBatch is what remains of a batch: the event itself is valid only while the observer's function runs.
type seenBatch struct {
	size      int
	reason    telemetry.FlushReason
	wait      time.Duration // median over its commands
	roundTrip time.Duration
	outcomes  [telemetry.NumOutcomes]int
}

// Attach implements telemetry.Observer.
func (r *recorder) Attach(telemetry.Pipe) telemetry.Events {
	return telemetry.Events{BatchEnd: func(_ context.Context, b *telemetry.Batch) { r.record(b) }}
}

func (r *recorder) record(b *telemetry.Batch) {
	seen := seenBatch{size: b.Size, reason: b.Reason, roundTrip: b.RoundTrip}
	waits := make([]time.Duration, len(b.Commands))
	for i := range b.Commands {
		waits[i] = b.Commands[i].Wait
		seen.outcomes[b.Commands[i].Outcome]++
	}
	if len(waits) > 0 {
		slices.Sort(waits)
		seen.wait = waits[len(waits)/2]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.batches) == keep {
		r.batches = slices.Delete(r.batches, 0, 1)
	}
	r.batches = append(r.batches, seen)
}

// reset forgets what was seen.
func (r *recorder) reset() {
	r.mu.Lock()
	r.batches = r.batches[:0]
	r.mu.Unlock()
}

// last returns the last n batches, the oldest first.
func (r *recorder) last(n int) []seenBatch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.batches[max(0, len(r.batches)-n):])
}
