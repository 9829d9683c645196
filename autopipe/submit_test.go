package autopipe_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

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

// foreignCmd is a type of the user's.
type foreignCmd struct{ *redis.StringCmd }

func (foreignCmd) Clone() redis.Cmder { panic("my Clone") }

// TestSubmit_ForeignClone: a type that WithBatched lets in may have a Clone that panics. That happens to who submits it.
func TestSubmit_ForeignClone(t *testing.T) {
	rdb, ap := hooked(t, autopipe.WithBatched("get"))
	w := autopipe.NewWindow(rdb)
	cmd := foreignCmd{redis.NewStringCmd(bg, "get", t.Name())}
	for name, submit := range map[string]func(){
		"Submit": func() { autopipe.Submit(bg, rdb, cmd) },
		"Window": func() { w.Incr(bg, t.Name()); _ = w.Process(bg, cmd); w.Submit(bg) },
	} {
		if end := endOf(submit); end != "panic: my Clone" {
			t.Errorf("%s ended with %q, want the panic", name, end)
		}
	}
	if _, err := autopipe.Submit(bg, rdb, redis.NewStatusCmd(bg, "set", t.Name(), "v")).Wait(bg); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	atRest(t, ap)
}
