package prom_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

func goroutines() int {
	if testing.Short() {
		return 8
	}
	return 50
}

// Nothing breaks: the server must have seen exactly what was counted.
func TestTruthAgainstTheServer(t *testing.T) {
	srv := redistest.Run(t)
	r := newRig()
	rdb := srv.Client(t)
	rdb.AddHook(r.hook)
	w := &workload{rdb: rdb, goroutines: goroutines(), each: 100}
	if err := srv.ResetStats(); err != nil {
		t.Fatal(err)
	}
	w.run(t)
	r.check(t, &w.books)

	if w.books.outcomes[telemetry.OutcomeNil].Load() == 0 || w.books.outcomes[telemetry.OutcomeServerError].Load() == 0 {
		t.Error("the workload did not do what it should")
	}
	w.books.byName.Range(func(name, n any) bool {
		if name == "client" { // go-redis sends CLIENT SETINFO and others itself
			name = "client|id"
		}
		got, err := srv.CommandCalls(name.(string))
		if err != nil || got != n.(*atomic.Int64).Load() {
			t.Errorf("the server ran %s %d times, want %d (%v)", name, got, n.(*atomic.Int64).Load(), err)
		}
		return true
	})

	// Each batch, direct command and pipeline is small enough for one read; connection set-up takes a few more.
	info, err := srv.Info("stats")
	if err != nil {
		t.Fatal(err)
	}
	reads, _ := strconv.ParseFloat(info["total_reads_processed"], 64)
	n := r.prometheus(t)
	unsent := n["autopipe.direct encoder"]
	trips := n["autopipe.flushes"] + n["autopipe.direct"] + n["autopipe.pipelines"] - unsent
	conns, _ := strconv.ParseFloat(info["total_connections_received"], 64)
	if reads < trips || reads > trips+5*conns+50 {
		t.Errorf("the server did %g reads for %g round trips and %g connections", reads, trips, conns)
	}
	t.Logf("%g commands in %g round trips: %v", n["autopipe.commands"], trips, r.hook.Stats())
}

func TestTruthWithCancelledCallers(t *testing.T) {
	srv := redistest.Run(t)
	r := newRig()
	rdb := srv.Client(t, func(o *redis.Options) { o.ContextTimeoutEnabled = true })
	rdb.AddHook(r.hook)
	w := &workload{rdb: rdb, goroutines: goroutines(), each: 100, cancel: true}
	w.run(t)
	r.check(t, &w.books)
	if w.books.outcomes[telemetry.OutcomeCancelled].Load() == 0 {
		t.Error("nobody was cancelled")
	}
}

func TestTruthWithFullQueue(t *testing.T) {
	srv := redistest.Run(t)
	r := newRig(autopipe.WithMaxQueue(3), autopipe.WithMaxInFlight(1), autopipe.WithMaxBatch(2))
	rdb := srv.Client(t)
	rdb.AddHook(r.hook)
	w := &workload{rdb: rdb, goroutines: goroutines(), each: 60}
	w.run(t)
	r.check(t, &w.books)
	t.Logf("%d rejected", w.books.outcomes[telemetry.OutcomeRejected].Load())
}

// Connections break, replies get lost, the server is busy loading: nothing is counted twice or not at all.
func TestTruthWithBrokenConnections(t *testing.T) {
	srv := redistest.Run(t)
	proxy := redistest.RunProxy(t, srv.Addr())
	r := newRig()
	rdb := srv.Client(t, func(o *redis.Options) { o.Addr = proxy.Addr() })
	rdb.AddHook(r.hook)
	w := &workload{rdb: rdb, goroutines: goroutines(), each: 100, cancel: true}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			proxy.Clear() // one fault at a time, however slow the machine
			switch i % 4 {
			case 0:
				proxy.CutAfterRequest("incr counter")
			case 1:
				proxy.CutBeforeRequest("get hit")
			case 2:
				proxy.FakeReply("get hit", "-LOADING Redis is loading the dataset in memory\r\n", 2)
			case 3:
				proxy.CutAll()
			}
		}
	}()
	w.run(t)
	close(stop)
	<-done
	proxy.Clear()
	r.check(t, &w.books)
	n := r.prometheus(t)
	t.Logf("%v", r.hook.Stats())
	if n["autopipe.retries loading"] == 0 || n["autopipe.retries transport"] == 0 || n["autopipe.commands uncertain"] == 0 {
		t.Error("the faults did not show")
	}
}

// panicky panics now and then under a batch or a lone command.
type panicky struct{ n atomic.Int64 }

func (p *panicky) DialHook(next redis.DialHook) redis.DialHook { return next }

func (p *panicky) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "get" && p.n.Add(1)%7 == 0 {
			panic("lone")
		}
		return next(ctx, cmd)
	}
}

func (p *panicky) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if len(cmds) > 1 && cmds[0].Name() == "get" && p.n.Add(1)%7 == 0 {
			panic("batch")
		}
		return next(ctx, cmds)
	}
}

func TestTruthWithPanics(t *testing.T) {
	srv := redistest.Run(t)
	r := newRig()
	rdb := srv.Client(t)
	rdb.AddHook(r.hook)
	rdb.AddHook(&panicky{})
	var issued, panics atomic.Int64
	done := make(chan struct{})
	for range 20 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 50 {
				func() {
					defer func() {
						if recover() != nil {
							panics.Add(1)
						}
					}()
					issued.Add(1)
					rdb.Get(context.Background(), "x")
				}()
			}
		}()
	}
	for range 20 {
		<-done
	}
	r.settle(t)
	if panics.Load() == 0 {
		t.Error("no panic came through")
	}
	if got := r.prometheus(t)["autopipe.commands"]; got != float64(issued.Load()) {
		t.Errorf("%g commands counted of %d", got, issued.Load())
	}
}
