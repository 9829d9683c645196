package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func hooked(t *testing.T, opts ...autopipe.Option) (*redis.Client, *autopipe.Hook) {
	t.Helper()
	rdb := redistest.Shared(t).Client(t)
	ap := autopipe.New(opts...)
	rdb.AddHook(ap)
	return rdb, ap
}

func atRest(t *testing.T, ap *autopipe.Hook) {
	t.Helper()
	until(t, "lane at rest", func() bool { s := ap.Stats(); return s.Queued == 0 && s.InFlight == 0 })
}

func TestSubmit_ResultIsReadLater(t *testing.T) {
	ctx := context.Background()
	rdb, ap := hooked(t)
	key := t.Name()
	const n = 500
	futures := make([]*autopipe.Future[*redis.IntCmd], n)
	for i := range futures {
		futures[i] = autopipe.Submit(ctx, rdb, redis.NewIntCmd(ctx, "incr", key))
	}
	seen := map[int64]bool{}
	for _, f := range futures {
		cmd, err := f.Wait(ctx)
		if err != nil || seen[cmd.Val()] || cmd.Val() < 1 || cmd.Val() > n {
			t.Fatalf("INCR gave %d, %v", cmd.Val(), err)
		}
		seen[cmd.Val()] = true
	}
	if s := ap.Stats(); s.Commands != n || s.Batches > n/2 || s.Outcomes["ok"] != n {
		t.Errorf("stats %v, want %d commands in few batches", s, n)
	}
	atRest(t, ap)
}

// TestSubmit_ReadBeforeWait: before Wait a result is the zero value, and looking at it is no data race.
func TestSubmit_ReadBeforeWait(t *testing.T) {
	ctx := context.Background()
	rdb, _ := hooked(t)
	rdb.Set(ctx, t.Name(), "value", 0)
	for range 200 {
		cmd := redis.NewStringCmd(ctx, "get", t.Name())
		f := autopipe.Submit(ctx, rdb, cmd)
		if cmd.Val() != "" || cmd.Err() != nil {
			t.Fatalf("before Wait: %q, %v", cmd.Val(), cmd.Err())
		}
		<-f.Done()
		if cmd.Val() != "" {
			t.Fatalf("after Done and before Wait: %q", cmd.Val())
		}
		if v, err := autopipe.Result(ctx, f); v != "value" || err != nil {
			t.Fatalf("Result: %q, %v", v, err)
		}
		if cmd.Val() != "value" {
			t.Fatalf("after Wait: %q", cmd.Val())
		}
	}
}

func TestSubmit_EachKindOfEnd(t *testing.T) {
	ctx := context.Background()
	rdb, ap := hooked(t)
	key := t.Name()
	rdb.RPush(ctx, key, "x")
	_, err := autopipe.Submit(ctx, rdb, redis.NewStringCmd(ctx, "get", key+"-none")).Wait(ctx)
	if err != redis.Nil {
		t.Errorf("miss: %v, want redis.Nil", err)
	}
	_, err = autopipe.Submit(ctx, rdb, redis.NewIntCmd(ctx, "incr", key)).Wait(ctx)
	if !redis.HasErrorPrefix(err, "WRONGTYPE") {
		t.Errorf("wrong type: %v", err)
	}
	cmd, err := autopipe.Submit(ctx, rdb, redis.NewStringSliceCmd(ctx, "blpop", key, "1")).Wait(ctx)
	if err != nil || len(cmd.Val()) != 2 || cmd.Val()[1] != "x" {
		t.Errorf("BLPOP: %v, %v", cmd.Val(), err)
	}
	_, err = autopipe.Submit(ctx, rdb, redis.NewStatusCmd(ctx, "set", key, struct{}{})).Wait(ctx)
	if err == nil || err.Error() != "redis: can't marshal struct {} (implement encoding.BinaryMarshaler)" {
		t.Errorf("unencodable: %v", err)
	}
	_, err = autopipe.Submit(autopipe.Direct(ctx), rdb, redis.NewStatusCmd(ctx, "ping")).Wait(ctx)
	if err != nil {
		t.Errorf("direct: %v", err)
	}
	s := ap.Stats()
	if s.Direct["blocking"] != 1 || s.Direct["encoder"] != 1 || s.Outcomes["nil"] != 1 || s.Outcomes["server_error"] != 1 {
		t.Errorf("stats %v", s)
	}
}

func TestSubmit_WithoutTheHook(t *testing.T) {
	ctx := context.Background()
	rdb := redistest.Shared(t).Client(t)
	f := autopipe.Submit(ctx, rdb, redis.NewStatusCmd(ctx, "set", t.Name(), "v"))
	select {
	case <-f.Done():
	default:
		t.Error("without the hook Submit must have run the command")
	}
	if cmd, err := f.Wait(ctx); cmd.Val() != "OK" || err != nil {
		t.Errorf("SET: %q, %v", cmd.Val(), err)
	}
	_, err := autopipe.Submit(ctx, rdb, redis.NewIntCmd(ctx, "llen", t.Name())).Wait(ctx)
	if !redis.HasErrorPrefix(err, "WRONGTYPE") {
		t.Errorf("LLEN of a string: %v", err)
	}
	w := autopipe.NewWindow(rdb)
	a, b := w.Get(ctx, t.Name()), w.LLen(ctx, t.Name())
	if err := w.Submit(ctx).Wait(ctx); !redis.HasErrorPrefix(err, "WRONGTYPE") || a.Val() != "v" || b.Err() == nil {
		t.Errorf("window: %v; %v; %v", err, a, b)
	}
}

func TestSubmit_Contexts(t *testing.T) {
	rdb, ap, _, open := gated(t)
	bg := context.Background()
	key := t.Name()
	own, cancelOwn := context.WithCancel(bg)
	mine := autopipe.Submit(own, rdb, redis.NewIntCmd(own, "incr", key))
	other := autopipe.Submit(bg, rdb, redis.NewIntCmd(bg, "incr", key))
	until(t, "both queued", func() bool { return ap.Stats().Queued == 2 })

	// A wait that ends abandons the wait only.
	short, cancel := context.WithTimeout(bg, time.Millisecond)
	if _, err := other.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait: %v, want DeadlineExceeded", err)
	}
	cancel()
	// The command's own context takes it out of the queue, at once for who waits.
	cancelOwn()
	if _, err := mine.Wait(bg); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v, want Canceled", err)
	}
	if n := ap.Stats().Queued; n != 1 {
		t.Errorf("%d queued, want 1", n)
	}
	open()
	if cmd, err := other.Wait(bg); cmd.Val() != 1 || err != nil {
		t.Errorf("INCR: %d, %v, want 1: the other must not have run", cmd.Val(), err)
	}
	if n := ap.Stats().Outcomes["cancelled"]; n != 1 {
		t.Errorf("%d cancelled, want 1", n)
	}
}

// TestSubmit_ContextEndsUnwatched: nobody waits for the future, and its command is still not sent.
func TestSubmit_ContextEndsUnwatched(t *testing.T) {
	rdb, ap, _, open := gated(t)
	bg := context.Background()
	own, cancel := context.WithCancel(bg)
	autopipe.Submit(own, rdb, redis.NewIntCmd(own, "incr", t.Name()))
	until(t, "queued", func() bool { return ap.Stats().Queued == 1 })
	cancel()
	open()
	atRest(t, ap)
	if err := rdb.Get(bg, t.Name()).Err(); err != redis.Nil {
		t.Errorf("the command ran: %v", err)
	}
	if n := ap.Stats().Outcomes["cancelled"]; n != 1 {
		t.Errorf("%d cancelled, want 1", n)
	}
}

func TestSubmit_QueueFull(t *testing.T) {
	rdb, ap, _, open := gated(t, autopipe.WithMaxQueue(3))
	ctx := context.Background()
	var fs []*autopipe.Future[*redis.IntCmd]
	for range 5 {
		fs = append(fs, autopipe.Submit(ctx, rdb, redis.NewIntCmd(ctx, "incr", t.Name())))
	}
	w := autopipe.NewWindow(rdb)
	get := w.Get(ctx, "x")
	p := w.Submit(ctx)
	if err := p.Wait(ctx); err != autopipe.ErrQueueFull || get.Err() != autopipe.ErrQueueFull {
		t.Errorf("window: %v, %v, want ErrQueueFull", err, get.Err())
	}
	open()
	for i, f := range fs {
		cmd, err := f.Wait(ctx)
		if i < 3 && (err != nil || cmd.Val() != int64(i+1)) || i >= 3 && err != autopipe.ErrQueueFull {
			t.Errorf("future %d: %d, %v", i, cmd.Val(), err)
		}
	}
	if n := ap.Stats().Outcomes["rejected"]; n != 3 {
		t.Errorf("%d rejected, want 3", n)
	}
}

func TestBlockOnFull(t *testing.T) {
	rdb, ap, _, open := gated(t, autopipe.WithMaxQueue(2), autopipe.WithBlockOnFull())
	bg := context.Background()
	autopipe.Submit(bg, rdb, redis.NewIntCmd(bg, "incr", t.Name()))
	autopipe.Submit(bg, rdb, redis.NewIntCmd(bg, "incr", t.Name()))
	// Waits within its context.
	short, cancel := context.WithTimeout(bg, 5*time.Millisecond)
	defer cancel()
	if _, err := autopipe.Submit(short, rdb, redis.NewIntCmd(bg, "incr", t.Name())).Wait(bg); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Submit on a full queue: %v, want DeadlineExceeded", err)
	}
	// A window that can never fit is refused.
	w := autopipe.NewWindow(rdb)
	for range 3 {
		w.Incr(bg, t.Name())
	}
	if err := w.Submit(bg).Wait(bg); err != autopipe.ErrQueueFull {
		t.Errorf("window larger than the queue: %v, want ErrQueueFull", err)
	}
	// Everybody else gets a turn.
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if i%2 == 0 {
				if err := rdb.Incr(bg, t.Name()).Err(); err != nil {
					t.Error(err)
				}
			} else if _, err := autopipe.Submit(bg, rdb, redis.NewIntCmd(bg, "incr", t.Name())).Wait(bg); err != nil {
				t.Error(err)
			}
		}()
	}
	time.Sleep(5 * time.Millisecond)
	open()
	wg.Wait()
	if n := rdb.Get(bg, t.Name()).Val(); n != "52" {
		t.Errorf("counter %s, want 52", n)
	}
	if s := ap.Stats(); s.Outcomes["rejected"] != 3 || s.Outcomes["cancelled"] != 1 {
		t.Errorf("stats %v", s)
	}
}

func TestWindow_RunsInOrder(t *testing.T) {
	ctx := context.Background()
	rdb, ap := hooked(t)
	// Company, so that windows share batches and several are in flight.
	stop := make(chan struct{})
	var noise sync.WaitGroup
	for range 20 {
		noise.Add(1)
		go func() {
			defer noise.Done()
			for {
				select {
				case <-stop:
					return
				default:
					rdb.Get(ctx, "noise")
				}
			}
		}()
	}
	var wg sync.WaitGroup
	for g := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			key := fmt.Sprint(t.Name(), g)
			a, b := autopipe.NewWindow(rdb), autopipe.NewWindow(rdb) // one goroutine: one order
			var all []*autopipe.Pending
			var reads []*redis.StringCmd
			for i := range 50 {
				w := a
				if i%2 == 1 {
					w = b
				}
				w.Set(ctx, key, i*10, 0)
				w.Incr(ctx, key)
				reads = append(reads, w.Get(ctx, key))
				all = append(all, w.Submit(ctx))
			}
			for i, p := range all {
				if err := p.Wait(ctx); err != nil {
					t.Error(err)
					return
				}
				if got, want := reads[i].Val(), fmt.Sprint(i*10+1); got != want {
					t.Errorf("window %d read %s, want %s", i, got, want)
				}
			}
			if got := rdb.Get(ctx, key).Val(); got != "491" {
				t.Errorf("at the end %s, want 491", got)
			}
		}()
	}
	wg.Wait()
	close(stop)
	noise.Wait()
	if ap.Stats().MeanBatch() < 3 {
		t.Errorf("mean batch %.1f: windows did not share", ap.Stats().MeanBatch())
	}
	atRest(t, ap)
}

func TestWindow_Results(t *testing.T) {
	ctx := context.Background()
	rdb, _ := hooked(t)
	key := t.Name()
	w := autopipe.NewWindow(rdb)
	if err := w.Submit(ctx).Wait(ctx); err != nil {
		t.Errorf("empty window: %v", err)
	}
	set := w.Set(ctx, key, "v", 0)
	miss := w.Get(ctx, key+"-none")
	wrong := w.LLen(ctx, key)
	get := w.Get(ctx, key)
	if w.Len() != 4 {
		t.Errorf("Len %d, want 4", w.Len())
	}
	p := w.Submit(ctx)
	if w.Len() != 0 {
		t.Errorf("Len %d after Submit, want 0", w.Len())
	}
	if get.Val() != "" {
		t.Errorf("before Wait: %q", get.Val())
	}
	if err := p.Wait(ctx); err != redis.Nil { // the first error, as Exec gives it
		t.Errorf("Wait: %v, want redis.Nil", err)
	}
	if set.Val() != "OK" || miss.Err() != redis.Nil || !redis.HasErrorPrefix(wrong.Err(), "WRONGTYPE") || get.Val() != "v" {
		t.Errorf("results: %v; %v; %v; %v", set, miss, wrong, get)
	}
	if cmds := p.Cmds(); len(cmds) != 4 || cmds[3] != redis.Cmder(get) {
		t.Errorf("Cmds: %v", cmds)
	}
	// Used again, through Exec and Pipelined.
	w.Incr(ctx, key+"-n")
	if cmds, err := w.Exec(ctx); err != nil || cmds[0].(*redis.IntCmd).Val() != 1 {
		t.Errorf("Exec: %v, %v", cmds, err)
	}
	cmds, err := w.Pipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, key+"-n"); return nil })
	if err != nil || cmds[0].(*redis.IntCmd).Val() != 2 {
		t.Errorf("Pipelined: %v, %v", cmds, err)
	}
	if _, err := w.TxPipelined(ctx, func(redis.Pipeliner) error { return nil }); err != autopipe.ErrTxWindow {
		t.Errorf("TxPipelined: %v", err)
	}
	tx := w.TxPipeline()
	in := tx.Incr(ctx, key)
	if _, err := tx.Exec(ctx); err != autopipe.ErrTxWindow || in.Err() != autopipe.ErrTxWindow {
		t.Errorf("TxPipeline: %v, %v", err, in.Err())
	}
}

// TestWindow_LargerThanABatch leaves whole, and one with a command that must not share leaves apart, both in their turn.
func TestWindow_Odd(t *testing.T) {
	ctx := context.Background()
	rdb, ap := hooked(t, autopipe.WithMaxBatch(16))
	key := t.Name()
	w := autopipe.NewWindow(rdb)
	for range 100 {
		w.Incr(ctx, key)
	}
	large := w.Submit(ctx)
	w.Incr(ctx, key)
	pop := w.BLPop(ctx, time.Second, key+"-list")
	w.RPush(ctx, key+"-list", "never before")
	apart := w.Submit(ctx)
	last := w.Incr(ctx, key)
	after := w.Submit(ctx)
	rdb.RPush(ctx, key+"-list", "x")
	if err := after.Wait(ctx); err != nil || last.Val() != 102 {
		t.Errorf("last: %d, %v, want 102", last.Val(), err)
	}
	if err := large.Wait(ctx); err != nil {
		t.Error(err)
	}
	if err := apart.Wait(ctx); err != nil || pop.Val()[1] != "x" {
		t.Errorf("BLPOP within a window: %v, %v", pop.Val(), err)
	}
	if s := ap.Stats(); s.Flushes["window"] == 0 || s.Pipelines != 1 || s.PipelinedCommands != 3 {
		t.Errorf("stats %v", s)
	}
	atRest(t, ap)
}

func TestWindow_NeverWaitedFor(t *testing.T) {
	ctx := context.Background()
	rdb, ap := hooked(t)
	for i := range 1000 {
		w := autopipe.NewWindow(rdb)
		w.Set(ctx, t.Name(), i, 0)
		w.Submit(ctx)
	}
	atRest(t, ap)
	if got := rdb.Get(ctx, t.Name()).Val(); got != "999" {
		t.Errorf("value %s, want 999", got)
	}
}

func TestWindow_Unordered(t *testing.T) {
	ctx := context.Background()
	rdb, ap := hooked(t)
	w := autopipe.NewWindow(rdb, autopipe.WithUnordered())
	var all []*autopipe.Pending
	for range 200 {
		for range 5 {
			w.Incr(ctx, t.Name())
		}
		all = append(all, w.Submit(ctx))
	}
	for _, p := range all {
		if err := p.Wait(ctx); err != nil {
			t.Error(err)
		}
		var last int64
		for _, cmd := range p.Cmds() { // within a window the order holds
			if v := cmd.(*redis.IntCmd).Val(); v <= last {
				t.Errorf("%d after %d within one window", v, last)
			} else {
				last = v
			}
		}
	}
	if got := rdb.Get(ctx, t.Name()).Val(); got != "1000" {
		t.Errorf("counter %s, want 1000", got)
	}
	atRest(t, ap)
}

func TestMergePipelines(t *testing.T) {
	ctx := context.Background()
	rdb, ap := hooked(t, autopipe.WithMergePipelines())
	rdb.RPush(ctx, t.Name()+"-list", "x")
	before := ap.Stats()
	var wg sync.WaitGroup
	for g := range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 20 {
				key := fmt.Sprint(t.Name(), g)
				ctx := ctx
				if g%2 == 0 {
					c, cancel := context.WithTimeout(ctx, time.Minute)
					defer cancel()
					ctx = c
				}
				var set *redis.StatusCmd
				var get, miss *redis.StringCmd
				cmds, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
					set = p.Set(ctx, key, i, 0)
					get = p.Get(ctx, key)
					miss = p.Get(ctx, t.Name()+"-list")
					return nil
				})
				if len(cmds) != 3 || !redis.HasErrorPrefix(err, "WRONGTYPE") || err != miss.Err() ||
					set.Val() != "OK" || get.Val() != fmt.Sprint(i) {
					t.Errorf("pipeline: %v, %v", cmds, err)
				}
			}
		}()
	}
	wg.Wait()
	s := ap.Stats()
	if s.Pipelines != before.Pipelines || s.Commands-before.Commands != 100*20*3 || s.MeanBatch() < 6 {
		t.Errorf("stats %v: pipelines were not merged", s)
	}
	// These pass as they are.
	if _, err := rdb.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, t.Name()); return nil }); err != nil {
		t.Error(err)
	}
	if _, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "select", "0"); p.Ping(ctx); return nil }); err != nil {
		t.Error(err)
	}
	if n := ap.Stats().Pipelines - s.Pipelines; n != 2 {
		t.Errorf("%d pipelines passed unchanged, want 2", n)
	}
}

func TestMergePipelines_ContextEnds(t *testing.T) {
	rdb, ap, g, open := gated(t, autopipe.WithMergePipelines())
	bg := context.Background()
	ctx, cancel := context.WithCancel(bg)
	got := make(chan error)
	run := func() {
		_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, t.Name()); p.Incr(ctx, t.Name()); return nil })
		got <- err
	}
	go run()
	until(t, "queued", func() bool { return ap.Stats().Queued == 2 })
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("queued pipeline: %v", err)
	}
	open()
	atRest(t, ap)
	if err := rdb.Get(bg, t.Name()).Err(); err != redis.Nil {
		t.Errorf("a cancelled pipeline ran: %v", err)
	}
	// In flight.
	for len(g.arrived) > 0 {
		<-g.arrived
	}
	g.shut()
	ctx, cancel = context.WithCancel(bg)
	go run()
	<-g.arrived
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("pipeline in flight: %v", err)
	}
	g.release()
	atRest(t, ap)
	if n := ap.Stats().Outcomes["cancelled"]; n != 4 {
		t.Errorf("%d cancelled, want 4", n)
	}
}

func TestDirectContext(t *testing.T) {
	rdb, ap := hooked(t)
	ctx, cancel := context.WithTimeout(autopipe.Direct(context.Background()), time.Minute)
	defer cancel()
	if err := rdb.Set(ctx, t.Name(), "v", 0).Err(); err != nil {
		t.Error(err)
	}
	if s := ap.Stats(); s.Direct["excluded"] != 1 || s.Commands != 0 {
		t.Errorf("stats %v, want one excluded", s)
	}
}
