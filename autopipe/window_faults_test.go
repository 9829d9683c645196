package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// waits are the ways to wait for a window. Who waits before its batch is cut, and cannot leave, gets the results in place;
// the others' commands travel as copies.
var waits = []struct {
	name  string
	early bool // before the batch is cut
	wait  func(p *autopipe.Pending) error
}{
	{"early, endless", true, func(p *autopipe.Pending) error { return p.Wait(bg) }},
	{"early, may leave", true, func(p *autopipe.Pending) error {
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		return p.Wait(ctx)
	}},
	{"early, two at once", true, func(p *autopipe.Pending) error {
		var panicked any
		var other sync.WaitGroup
		other.Go(func() {
			defer func() { panicked = recover() }()
			_ = p.Wait(bg)
		})
		err := p.Wait(bg)
		if other.Wait(); panicked != nil {
			panic(panicked)
		}
		return err
	}},
	{"late", false, func(p *autopipe.Pending) error {
		<-p.Done()
		return p.Wait(bg)
	}},
}

// windowRun is what a test does with a window: fill it, something before it is sent, and what Wait says. It meets others in a
// batch. A panic in Wait is an error that begins with "panic".
type windowRun func(fill func(w *autopipe.Window), before ...func()) (p *autopipe.Pending, err error)

func (r *rig) windowed(early bool, wait func(*autopipe.Pending) error) windowRun {
	return func(fill func(w *autopipe.Window), before ...func()) (p *autopipe.Pending, err error) {
		r.t.Helper()
		held, release := r.inner.hold()
		var wg sync.WaitGroup
		wg.Go(func() { r.rdb.Echo(bg, heldEcho) })
		<-held
		w := autopipe.NewWindow(r.rdb)
		fill(w)
		p = w.Submit(bg)
		for _, f := range before {
			f()
		}
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					err = fmt.Errorf("panic: %v", v)
				}
			}()
			err = wait(p)
		})
		if early {
			until(r.t, "somebody waits", func() bool { return stacks("autopipe.(*unit).wait(") > 0 })
		}
		release()
		wg.Wait()
		return p, err
	}
}

// stacks counts the goroutines with a function on their stack.
func stacks(name string) int {
	buf := make([]byte, 1<<20)
	return strings.Count(string(buf[:runtime.Stack(buf, true)]), name)
}

func everyWait(t *testing.T, f func(t *testing.T, r *rig, run windowRun)) {
	for _, way := range waits {
		t.Run(way.name, func(t *testing.T) {
			r := newRig(t)
			r.rdb.Ping(bg) // connect first
			f(t, r, r.windowed(way.early, way.wait))
			r.proxy.Clear()
			r.works()
		})
	}
}

// The reply of a window's command is lost: each of its commands ends as it would alone.
func TestWindow_ReplyLost(t *testing.T) {
	everyWait(t, func(t *testing.T, r *rig, run windowRun) {
		k, n := r.key("k"), r.key("n")
		cut := r.proxy.CutAfterRequest("incr " + n)
		var set *redis.StatusCmd
		var incr *redis.IntCmd
		var get *redis.StringCmd
		var do *redis.Cmd
		_, err := run(func(w *autopipe.Window) {
			set, incr, get, do = w.Set(bg, k, "v", 0), w.Incr(bg, n), w.Get(bg, k), w.Do(bg, "get", k)
		})
		if cut.Fired() != 1 {
			t.Errorf("cut %d times", cut.Fired())
		}
		if !isUncertain(err) || err != incr.Err() || incr.Val() != 0 {
			t.Errorf("Wait: %v; INCR: %v; want its UncertainError", err, incr)
		}
		if set.Val() != "OK" || set.Err() != nil || get.Val() != "v" || get.Err() != nil || do.Val() != "v" || do.Err() != nil {
			t.Errorf("neighbours: %v; %v; %v", set, get, do)
		}
		if got := r.count(n); got != 1 {
			t.Errorf("INCR ran %d times", got)
		}
	})
}

// A refusal is sent again, and the window's other commands are not.
func TestWindow_Refused(t *testing.T) {
	everyWait(t, func(t *testing.T, r *rig, run windowRun) {
		n, m, l := r.key("n"), r.key("m"), r.key("l")
		r.plain.RPush(bg, l, "x")
		r.proxy.FakeReply("incr "+n, "-LOADING soon\r\n", 2)
		var a, b, c *redis.IntCmd
		p, err := run(func(w *autopipe.Window) { a, b, c = w.Incr(bg, m), w.Incr(bg, n), w.Incr(bg, l) })
		if a.Val() != 1 || b.Val() != 1 || a.Err() != nil || b.Err() != nil {
			t.Errorf("%v; %v; want 1 and 1", a, b)
		}
		if !redis.HasErrorPrefix(c.Err(), "WRONGTYPE") || err != c.Err() || p.Wait(bg) != err {
			t.Errorf("Wait: %v, then %v; INCR of a list: %v", err, p.Wait(bg), c)
		}
		if s := r.ap.Stats(); s.Retries["loading"] != 2 {
			t.Errorf("retries %v, want 2", s.Retries)
		}
	})
}

// A panic in a hook behind is repeated by one Wait, and later ones have an error.
func TestWindow_Panic(t *testing.T) {
	everyWait(t, func(t *testing.T, r *rig, run windowRun) {
		r.inner.onSend(func([]string) func() { panic("boom") })
		var cmd *redis.IntCmd
		p, err := run(func(w *autopipe.Window) { cmd = w.Incr(bg, r.key("n")); w.Incr(bg, r.key("n")) })
		if err == nil || err.Error() != "panic: boom" {
			t.Errorf("Wait: %v, want the panic", err)
		}
		r.inner.onSend(nil)
		if err := p.Wait(bg); err == nil || cmd.Err() == nil {
			t.Errorf("the second Wait: %v, the command: %v; want an error", err, cmd.Err())
		}
		if n := r.count(r.key("n")); n != 0 {
			t.Errorf("INCR ran %d times", n)
		}
	})
}

// What the owner does with its arguments after Submit changes nothing.
func TestWindow_ArgumentsAreFrozen(t *testing.T) {
	everyWait(t, func(t *testing.T, r *rig, run windowRun) {
		keys := []string{r.key("bytes"), r.key("pointer"), r.key("do"), r.key("code")}
		bytes, text := []byte("before"), "before"
		args := []any{"set", keys[2], "before"}
		encoded := 0
		code := marshalFunc(func() ([]byte, error) { encoded++; return []byte("before"), nil })
		_, err := run(func(w *autopipe.Window) {
			w.Set(bg, keys[0], bytes, 0)
			w.Set(bg, keys[1], &text, 0)
			w.Do(bg, args...)
			w.Set(bg, keys[3], code, 0)
		}, func() {
			copy(bytes, "BEHIND")
			text, args[2] = "after", "after"
			if encoded != 1 {
				t.Errorf("MarshalBinary ran %d times before Submit returned, want 1", encoded)
			}
		})
		if err != nil {
			t.Error(err)
		}
		for _, k := range keys {
			if v, err := r.plain.Get(bg, k).Result(); v != "before" || err != nil {
				t.Errorf("%s: %q, %v; want what it was at Submit", k, v, err)
			}
		}
		if encoded != 1 {
			t.Errorf("MarshalBinary ran %d times, want 1", encoded)
		}
	})
}

// TestWindow_WaitEndsInFlight: a wait that ends leaves the commands as they were, and looking at them while the replies
// come in is no race. The next Wait has the results.
func TestWindow_WaitEndsInFlight(t *testing.T) {
	r := newRig(t)
	k := r.key("k")
	r.rdb.Set(bg, k, "v", 0)
	for range 20 {
		r.proxy.HoldReplies(true)
		w := autopipe.NewWindow(r.rdb)
		a, b := w.Get(bg, k), w.Do(bg, "get", k)
		p := w.Submit(bg)
		short, cancel := context.WithTimeout(bg, time.Millisecond)
		if err := p.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait: %v, want DeadlineExceeded", err)
		}
		cancel()
		r.proxy.HoldReplies(false)
		for done := false; !done; done = isClosed(p.Done()) {
			if a.Val() != "" || a.Err() != nil || b.Val() != nil {
				t.Fatalf("before the next Wait: %v, %v", a, b)
			}
		}
		if err := p.Wait(bg); err != nil || a.Val() != "v" || b.Val() != "v" {
			t.Fatalf("Wait: %v; %v; %v", err, a, b)
		}
	}
	atRest(t, r.ap)
}
