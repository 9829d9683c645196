package autopipe_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

func TestWindow_RunsInOrder(t *testing.T) {
	ctx := context.Background()
	rdb, ap := hooked(t)
	// Company, so that windows share batches and several are in flight.
	stop := company(20, func(int) { rdb.Get(ctx, "noise") })
	defer stop()
	many(20, func(g int) {
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
	})
	stop()
	if ap.Stats().MeanBatch() < 3 {
		t.Errorf("mean batch %.1f: windows did not share", ap.Stats().MeanBatch())
	}
	atRest(t, ap)
}

// The commands of a Window run in their order, and its windows one after the other, in the company of others.
func TestLife_WindowInOrder(t *testing.T) {
	rdb, ap := hooked(t)
	many(50, func(i int) {
		w, key := autopipe.NewWindow(rdb), fmt.Sprint("window ", i)
		var pending []*autopipe.Pending
		var want []string
		for j := range 6 {
			w.Set(bg, key+" last", j, 0)
			for k := range 5 {
				w.RPush(bg, key, fmt.Sprint(j, k))
				want = append(want, fmt.Sprint(j, k))
			}
			last := w.Get(bg, key+" last")
			p := w.Submit(bg)
			if j%2 == 0 {
				if err := p.Wait(bg); err != nil || last.Val() != fmt.Sprint(j) {
					t.Errorf("window %d reads %q, %v", j, last.Val(), err)
				}
			}
			pending = append(pending, p)
		}
		for _, p := range pending {
			if err := p.Wait(bg); err != nil {
				t.Error(err)
			}
		}
		if got := rdb.LRange(bg, key, 0, -1).Val(); !slices.Equal(got, want) {
			t.Errorf("pushed %v, list %v", want, got)
		}
		rdb.Del(bg, key)
	})
	mustShare(t, ap)
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

// TestWindow_Odd: a window larger than a batch leaves whole, and one with a command that must not share leaves apart,
// both in their turn.
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
