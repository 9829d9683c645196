package load

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// open issues units by a schedule that does not care how the client fares: a
// Poisson process, the callers' processes adding up to Options.Rate.
//
// A unit's latency runs from the moment it should have started. When a reply is
// late, the caller starts the next units late, and their waiting is counted: in
// real traffic those requests would have come at their own time. Measuring from
// the real start instead hides exactly the stalls one looks for (coordinated
// omission); that number is kept as Service, to show the difference.
//
// The sleep before a unit ends a little late, by the precision of Go's timers.
// That is counted as well: it is the same for every client.
func (c *caller) open(ctx context.Context, w Worker, id int, begin time.Time, stop *atomic.Bool, o Options) {
	rng := rand.New(rand.NewPCG(uint64(id)+1, 0xda3e39cb94b95bdb))
	gap := float64(time.Second) * float64(o.Callers) / o.Rate // mean, per caller
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()

	due := time.Duration(rng.ExpFloat64() * gap)
	for due < o.Duration {
		if wait := due - time.Since(begin); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		} else if stop.Load() && -wait > grace(o.Duration) {
			// Hopelessly behind: what is still due was never served. It must not vanish
			// from the picture, so the wait so far is recorded for each of them.
			c.abandon(rng, gap, due, begin, o.Duration)
			return
		}
		start := time.Since(begin)
		n, err := w.Do(o.Context)
		end := time.Since(begin)
		c.latency.Record(end - due)
		c.service.Record(end - start)
		c.executed += uint64(n)
		if err != nil {
			c.fail(err)
		}
		due += time.Duration(rng.ExpFloat64() * gap)
	}
}

// grace is how long after the deadline a caller still works off its backlog.
func grace(d time.Duration) time.Duration { return d / 2 }

// abandon records the units that were due but not served with the latency they
// have at least.
func (c *caller) abandon(rng *rand.Rand, gap float64, due time.Duration, begin time.Time, until time.Duration) {
	now := time.Since(begin)
	for ; due < until; due += time.Duration(rng.ExpFloat64() * gap) {
		c.latency.Record(now - due)
	}
}
