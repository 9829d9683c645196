package demo

import (
	"context"
	"time"
)

// Phase is what the load is like at a time.
type Phase int32

// The phases, in their order.
const (
	Healthy Phase = iota // the given rate, nothing in the way
	Burst                // three times the rate
	Faults               // connections break, Redis refuses commands
	Slow                 // replies come late
	numPhases
)

// share of the cycle that each phase takes. The faults come one after another, so they need the longest.
var share = [numPhases]float64{Healthy: 0.3, Burst: 0.15, Faults: 0.35, Slow: 0.2}

// String is the phase's name, the label phase.
func (p Phase) String() string { return [numPhases]string{"healthy", "burst", "faults", "slow"}[p] }

// cycle goes through the phases until ctx ends.
func (d *Demo) cycle(ctx context.Context) {
	for ctx.Err() == nil {
		for p := range numPhases {
			d.phase.Store(int32(p))
			d.own.enter(p)
			d.during(ctx, p, time.Duration(float64(d.cfg.Cycle)*share[p]))
		}
		d.cycles.Add(1)
	}
}

// during spends a phase's time with what belongs to it.
func (d *Demo) during(ctx context.Context, p Phase, long time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	switch p {
	case Faults:
		d.faults(ctx)
	case Slow:
		d.slow(ctx)
	default:
		<-ctx.Done()
	}
}

// sleep waits for t and reports whether ctx is still alive.
func sleep(ctx context.Context, t time.Duration) bool {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
