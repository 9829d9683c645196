package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestContext_EndsWhileQueued(t *testing.T) {
	rdb, ap, g, open := gated(t)
	key := t.Name()
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan error)
	go func() { got <- rdb.Incr(ctx, key).Err() }()
	until(t, "INCR queued", func() bool { return ap.Stats().Queued == 1 })
	cancel()
	select {
	case err := <-got:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the caller did not return")
	}
	if n := ap.Stats().Queued; n != 0 {
		t.Errorf("%d commands still queued", n)
	}
	open()
	if n := len(g.arrived); n != 0 {
		t.Errorf("%d more sends, want none: the command was never to be sent", n)
	}
	if err := rdb.Get(context.Background(), key).Err(); err != redis.Nil {
		t.Errorf("GET: %v, want redis.Nil: the INCR must not have run", err)
	}
	if n := ap.Stats().Outcomes["cancelled"]; n != 1 {
		t.Errorf("%d cancelled, want 1", n)
	}
}

func TestContext_AlreadyEnded(t *testing.T) {
	rdb, ap := hooked(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := rdb.Incr(ctx, t.Name()).Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if s := ap.Stats(); s.Batches != 0 || s.Outcomes["cancelled"] != 1 {
		t.Errorf("stats %v, want nothing sent and one cancelled", s)
	}
}

// TestContext_EndsInFlight: the server does not answer; callers alone and in a batch return at their deadline, and the late
// replies meet nobody. Whoever waited for the batch instead would be here after the client's read timeout of 3 s.
func TestContext_EndsInFlight(t *testing.T) {
	for _, callers := range []int{1, 50} {
		t.Run(fmt.Sprint(callers), func(t *testing.T) {
			srv := redistest.Run(t)
			rdb := srv.Client(t)
			rdb.AddHook(autopipe.New())
			for i := range callers {
				rdb.Set(bg, fmt.Sprint("k", i), strings.Repeat("x", 1000), 0)
			}
			if err := srv.Freeze(); err != nil {
				t.Fatal(err)
			}
			const limit = time.Second // the machine may be busy
			var worst atomic.Int64
			many(callers, func(i int) {
				ctx, cancel := context.WithTimeout(bg, 100*time.Millisecond)
				defer cancel()
				end, _ := ctx.Deadline()
				cmd := rdb.Get(ctx, fmt.Sprint("k", i))
				late := time.Since(end)
				for w := worst.Load(); int64(late) > w && !worst.CompareAndSwap(w, int64(late)); w = worst.Load() {
				}
				if !errors.Is(cmd.Err(), context.DeadlineExceeded) {
					t.Errorf("error %v, want context.DeadlineExceeded", cmd.Err())
				}
				// The command is the caller's again: reading and changing it must not race with the reply.
				cmd.SetVal("mine")
				if cmd.Val() != "mine" {
					t.Errorf("value %q, want the caller's own", cmd.Val())
				}
			})
			if w := time.Duration(worst.Load()); w > limit {
				t.Errorf("returned %v after the deadline, want at most %v", w, limit)
			}
			if err := srv.Thaw(); err != nil {
				t.Fatal(err)
			}
			// Now everything works, and nobody reads a shifted reply.
			for i := range callers {
				if v, err := rdb.Get(bg, fmt.Sprint("k", i)).Result(); err != nil || len(v) != 1000 {
					t.Errorf("k%d: %d bytes, %v", i, len(v), err)
				}
			}
		})
	}
}

// TestContext_NoShiftedReplies: while callers leave at random moments, those that stay always get their own value.
func TestContext_NoShiftedReplies(t *testing.T) {
	rdb, ap := hooked(t)
	const goroutines = 100
	key := func(g, i int) string { return fmt.Sprintf("%s:%d:%d", t.Name(), g, i%10) }
	for g := range goroutines {
		for i := range 10 {
			rdb.Set(bg, key(g, i), key(g, i), 0)
		}
	}
	each := 1000
	if testing.Short() {
		each = 100
	}
	var left atomic.Int64
	many(goroutines, func(g int) {
		for i := range each {
			ctx, cancel := bg, context.CancelFunc(func() {})
			if g%2 == 0 {
				ctx, cancel = context.WithTimeout(bg, time.Duration(i%7)*150*time.Microsecond)
			}
			v, err := rdb.Get(ctx, key(g, i)).Result()
			cancel()
			switch {
			case err == nil && v == key(g, i):
			case g%2 == 0 && errors.Is(err, context.DeadlineExceeded):
				left.Add(1)
			default:
				t.Errorf("got %q, %v, want %q", v, err, key(g, i))
				return
			}
		}
	})
	if left.Load() == 0 || ap.Stats().MeanBatch() < 2 {
		t.Errorf("%d callers left, mean batch %.1f: nothing was tried", left.Load(), ap.Stats().MeanBatch())
	}
}

// TestContext_LeaderLeaves: the caller that started a batch leaves while it travels; the others get their replies, and
// the lane goes on.
func TestContext_LeaderLeaves(t *testing.T) {
	rdb, ap := hooked(t, autopipe.WithMaxInFlight(1))
	g := newGate()
	rdb.AddHook(g)
	rdb.Ping(bg)
	<-g.arrived
	g.shut()
	ctx, cancel := context.WithCancel(bg)
	first := make(chan error)
	go func() { first <- rdb.Get(ctx, "a").Err() }()
	<-g.arrived
	rest := make(chan error)
	for range 20 {
		go func() { rest <- rdb.Get(bg, "b").Err() }()
	}
	until(t, "20 queued", func() bool { return ap.Stats().Queued == 20 })
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("leader: %v, want context.Canceled", err)
	}
	g.release()
	for range 20 {
		if err := <-rest; err != redis.Nil {
			t.Errorf("follower: %v, want redis.Nil", err)
		}
	}
	atRest(t, ap)
}

// TestContext_ErrorExplainsItself: the error says whether the command was sent, how long it waited and behind what.
func TestContext_ErrorExplainsItself(t *testing.T) {
	rdb, ap, g, open := gated(t)
	go rdb.Get(bg, "company")
	until(t, "company queued", func() bool { return ap.Stats().Queued == 1 })
	ctx, cancel := context.WithTimeout(bg, 300*time.Millisecond) // the machine may be late
	defer cancel()
	err := rdb.Incr(ctx, t.Name()).Err()
	var e *autopipe.ContextError
	if !errors.As(err, &e) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v (%T), want *ContextError of DeadlineExceeded", err, err)
	}
	if e.Command != "incr" || e.InFlight || e.Waited < 20*time.Millisecond || e.Queued != 1 || e.Batches != 1 || !e.Timeout() {
		t.Errorf("queued: %+v", e)
	}
	if want := "context deadline exceeded (autopipe: INCR queued, not sent after "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("text %q, want %q ...", err, want)
	}
	open()
	atRest(t, ap)
	for len(g.arrived) > 0 {
		<-g.arrived
	}
	g.shut()
	defer g.release()
	ctx2, cancel2 := context.WithCancel(bg)
	go func() { <-g.arrived; cancel2() }()
	err = rdb.Incr(ctx2, t.Name()).Err()
	if !errors.As(err, &e) || !errors.Is(err, context.Canceled) || !e.InFlight || e.Timeout() ||
		!strings.Contains(err.Error(), "INCR in flight, may have run") {
		t.Errorf("in flight: %v", err)
	}
}
