package prom_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// books is the workload's own bookkeeping, from what its callers got back.
type books struct {
	outcomes  [telemetry.NumOutcomes]atomic.Int64
	commands  atomic.Int64
	direct    atomic.Int64 // at least, by kind of command
	pipelines atomic.Int64
	pipelined atomic.Int64
	byName    sync.Map // lower-case name -> *atomic.Int64, of commands that were answered
}

func (b *books) add(name string, err error) {
	o := classify(err)
	b.commands.Add(1)
	b.outcomes[o].Add(1)
	if o == telemetry.OutcomeOK || o == telemetry.OutcomeNil || o == telemetry.OutcomeServerError {
		b.answered(name, 1)
	}
}

func (b *books) answered(name string, n int64) {
	c, _ := b.byName.LoadOrStore(name, new(atomic.Int64))
	c.(*atomic.Int64).Add(n)
}

// classify tells the outcome as a caller can tell it.
func classify(err error) telemetry.Outcome {
	var re redis.Error
	var un *autopipe.UncertainError
	switch {
	case err == nil:
		return telemetry.OutcomeOK
	case errors.Is(err, redis.Nil):
		return telemetry.OutcomeNil
	case errors.Is(err, autopipe.ErrQueueFull):
		return telemetry.OutcomeRejected
	case errors.As(err, &un):
		return telemetry.OutcomeUncertain
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return telemetry.OutcomeCancelled
	case errors.As(err, &re):
		return telemetry.OutcomeServerError
	}
	return telemetry.OutcomeTransportError
}

// workload is a mix of what applications send. Every kind has commands that succeed, miss and fail.
type workload struct {
	rdb        *redis.Client
	goroutines int
	each       int
	cancel     bool // some callers have contexts that end
	books      books
}

func (w *workload) run(t testing.TB) {
	t.Helper()
	ctx := context.Background()
	for _, err := range []error{w.rdb.Set(ctx, "text", "not a number", 0).Err(), w.rdb.Set(ctx, "hit", "x", 0).Err()} {
		w.books.add("set", err)
		if err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for g := range w.goroutines {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 7))
			for i := range w.each {
				w.one(r, g, i)
			}
		})
	}
	wg.Wait()
}

func (w *workload) one(r *rand.Rand, g, i int) {
	ctx, b, key := context.Background(), &w.books, fmt.Sprintf("k:%d:%d", g, i%50)
	if w.cancel && r.IntN(4) == 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Duration(r.IntN(2000))*time.Microsecond)
		defer stop()
	}
	switch k := r.IntN(100); {
	case k < 30:
		b.add("set", w.rdb.Set(ctx, key, "value", 0).Err())
	case k < 50:
		b.add("get", w.rdb.Get(ctx, "hit").Err())
	case k < 55: // submitted, not waited for at once
		f := autopipe.Submit(ctx, w.rdb, redis.NewStringCmd(ctx, "get", "missing"))
		g := autopipe.Submit(ctx, w.rdb, redis.NewIntCmd(ctx, "incr", "text"))
		_, err := f.Wait(context.Background())
		b.add("get", err)
		_, err = g.Wait(context.Background())
		b.add("incr", err)
	case k < 60: // a window rides in shared batches, in order
		win := autopipe.NewWindow(w.rdb)
		cmds := []redis.Cmder{win.Set(ctx, key, "value", 0), win.Get(ctx, "missing"), win.Incr(ctx, "counter")}
		_ = win.Submit(ctx).Wait(context.Background())
		for _, c := range cmds {
			b.add(c.Name(), c.Err())
		}
	case k < 75:
		b.add("get", w.rdb.Get(ctx, "missing").Err())
	case k < 85:
		b.add("incr", w.rdb.Incr(ctx, "counter").Err())
	case k < 90:
		b.add("incr", w.rdb.Incr(ctx, "text").Err()) // ERR value is not an integer
	case k < 93:
		b.add("client", w.rdb.Do(ctx, "client", "id").Err()) // direct: connection
		b.direct.Add(1)
	case k < 95:
		b.add("blpop", w.rdb.Do(ctx, "blpop", "list", "0.001").Err()) // direct: blocking
		b.direct.Add(1)
	case k < 97:
		b.add("set", w.rdb.Set(ctx, key, struct{}{}, 0).Err()) // direct: cannot be encoded
		b.direct.Add(1)
	default:
		const n = 3
		_, err := w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for range n {
				p.Incr(ctx, "pipelined")
			}
			return nil
		})
		b.pipelines.Add(1)
		b.pipelined.Add(n)
		if err == nil {
			b.answered("incr", n)
		}
	}
}
