package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

// source issues commands at random moments (a Poisson process) that do not depend on how the client fares, each to a
// random node. load's open loop gives every caller a timer; here one thread that sleeps precisely hands the commands to
// callers that wait, since Go's timers wake an idle program up to a millisecond late and all commands that became due
// meanwhile would come as a burst.
type source struct {
	rate    float64
	callers int
	time    time.Duration
	seed    uint64
	do      func(ctx context.Context, node int) error
	nodes   int
}

// issued is what a source saw.
type issued struct {
	commands  uint64
	err       error
	elapsed   time.Duration
	oversleep time.Duration // mean
	latency   load.Hist     // from the moment when a command was due
}

type due struct {
	at   time.Duration
	node int
}

func (s source) run(ctx context.Context) *issued {
	var (
		out     issued
		work    = make(chan due, 1<<16)
		mu      sync.Mutex
		done    atomic.Uint64
		callers sync.WaitGroup
		begin   = time.Now()
	)
	for range s.callers {
		callers.Go(func() {
			var seen load.Hist
			var first error
			for d := range work {
				if err := s.do(ctx, d.node); err != nil && first == nil {
					first = err
				}
				done.Add(1)
				seen.Record(time.Since(begin) - d.at)
			}
			mu.Lock()
			out.latency.Merge(&seen)
			out.err = firstError(out.err, first)
			mu.Unlock()
		})
	}
	callers.Go(func() {
		runtime.LockOSThread() // its precision is the thread's, which ends with it
		defer close(work)
		precise()
		out.oversleep = s.pace(ctx, begin, work)
	})
	callers.Wait()
	out.commands, out.elapsed = done.Load(), time.Since(begin)
	return &out
}

// pace hands out the commands and returns by how much it overslept, on average.
func (s source) pace(ctx context.Context, begin time.Time, work chan<- due) time.Duration {
	rng := rand.New(rand.NewPCG(s.seed+1, 0xca11e25))
	gap := float64(time.Second) / s.rate
	var late time.Duration
	sleeps := 0
	for at := time.Duration(0); at < s.time && ctx.Err() == nil; {
		now := time.Since(begin)
		if at > now {
			sleep(at - now)
			late += time.Since(begin) - at
			sleeps++
			continue
		}
		work <- due{at, rng.IntN(s.nodes)}
		at += time.Duration(rng.ExpFloat64() * gap)
	}
	return late / time.Duration(max(sleeps, 1))
}
