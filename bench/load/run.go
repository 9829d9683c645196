package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Options of one run.
type Options struct {
	Callers  int
	Duration time.Duration
	// Rate of commands per second for all callers together makes the run open-loop.
	// Zero is a closed loop: each caller issues its next command when it has read
	// the last.
	Rate float64
	// SampleEvery so many units of a closed loop, one is timed. Zero means 8. Open
	// loops time all of them: they need the clock anyway.
	SampleEvery int
	// NewWorker makes caller id's worker, before the timed region.
	NewWorker func(id int) Worker
	// Context that the workers hand to their client. Without one they use the
	// background context, which cannot be cancelled: clients wait more cheaply on it.
	Context context.Context
	// Before and After bracket the timed region, for whoever measures CPU time,
	// allocations or the server's counters.
	Before, After func()
}

// Result of one run.
type Result struct {
	// Executed commands: those whose reply was read without an error.
	Executed uint64
	// Failed units, and the first error seen.
	Failed uint64
	Err    error
	// Elapsed from the moment the callers were let go until the last of them came
	// back: what was in flight at the deadline is waited for, and paid for.
	Elapsed time.Duration
	// Latency as the arrival schedule saw it (open loop: from the moment a unit
	// should have started) or as the caller saw it (closed loop).
	Latency Hist
	// Service is the latency from the moment a unit really started. In a closed
	// loop it equals Latency.
	Service Hist
}

// Rate of executed commands per second of the timed region.
func (r *Result) Rate() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Executed) / r.Elapsed.Seconds()
}

// caller is what one goroutine counts for itself, read when it has ended.
type caller struct {
	executed, failed uint64
	err              error
	latency          Hist
	service          *Hist // open loop only
	_                [64]byte
}

func (c *caller) fail(err error) {
	c.failed++
	if c.err == nil {
		c.err = err
	}
}

// Run lets the callers go until the duration is over and returns when the last
// has read its last reply. It ends early when ctx does.
func Run(ctx context.Context, o Options) *Result {
	o.Callers = max(o.Callers, 1)
	if o.SampleEvery <= 0 {
		o.SampleEvery = 8
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	var (
		callers = make([]*caller, o.Callers)
		gate    = make(chan struct{})
		stop    atomic.Bool
		begin   time.Time
		ready   sync.WaitGroup
		done    sync.WaitGroup
	)
	for id := range callers {
		c := &caller{}
		if o.Rate > 0 {
			c.service = new(Hist)
		}
		callers[id] = c
		w := o.NewWorker(id)
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			if o.Rate > 0 {
				c.open(ctx, w, id, begin, &stop, o)
			} else {
				c.closed(w, id, &stop, o)
			}
		})
	}
	ready.Wait()
	if o.Before != nil {
		o.Before()
	}
	timer := time.AfterFunc(o.Duration, func() { stop.Store(true) })
	cancel := context.AfterFunc(ctx, func() { stop.Store(true) })
	begin = time.Now()
	close(gate)
	done.Wait()
	elapsed := time.Since(begin)
	if o.After != nil {
		o.After()
	}
	timer.Stop()
	cancel()
	return gather(callers, elapsed)
}

func gather(callers []*caller, elapsed time.Duration) *Result {
	res := &Result{Elapsed: elapsed}
	for _, c := range callers {
		res.Executed += c.executed
		res.Failed += c.failed
		if res.Err == nil {
			res.Err = c.err
		}
		res.Latency.Merge(&c.latency)
		if c.service != nil {
			res.Service.Merge(c.service)
		}
	}
	if res.Service.N() == 0 {
		res.Service = res.Latency
	}
	return res
}

// closed issues the next unit when the last is done.
func (c *caller) closed(w Worker, id int, stop *atomic.Bool, o Options) {
	// Callers start at different places of the sampling cycle: otherwise their timed
	// commands would ride the same batches.
	left := id % o.SampleEvery
	// Counted on the stack, which is in the cache when the caller wakes up; c is not.
	executed := uint64(0)
	for !stop.Load() {
		if left > 0 {
			left--
			n, err := w.Do(o.Context)
			executed += uint64(n)
			if err != nil {
				c.fail(err)
			}
			continue
		}
		left = o.SampleEvery - 1
		start := time.Now()
		n, err := w.Do(o.Context)
		c.latency.Record(time.Since(start))
		executed += uint64(n)
		if err != nil {
			c.fail(err)
		}
	}
	c.executed = executed
}
