package autopipe_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// endOf tells how a function ended: it returned, panicked with a value, or ended its goroutine.
func endOf(f func()) (end string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		end = "goexit"
		defer func() {
			if v := recover(); v != nil {
				end = fmt.Sprint("panic: ", v)
			}
		}()
		f()
		end = "returned"
	}()
	<-done
	return end
}

// TestIsolation_MarshalPanic: a panic in MarshalBinary, or its Goexit, is its own caller's alone.
func TestIsolation_MarshalPanic(t *testing.T) {
	for want, do := range map[string]func(){"panic: ouch": func() { panic("ouch") }, "goexit": runtime.Goexit} {
		everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
			r := newRig(t)
			arg := marshalFunc(func() ([]byte, error) { do(); return nil, nil })
			r.amid(ctx, batched, false, func() {
				if end := endOf(func() { r.rdb.Set(ctx, r.key("k"), arg, 0) }); end != want {
					t.Errorf("the call ended with %q, want %q", end, want)
				}
			})
			r.works()
		})
	}
}

// TestIsolation_InnerHookPanics: a panic in a hook behind autopipe reaches a caller, as it would without autopipe. The
// others of the batch get an error, or their reply if it had come already; none hangs and none gets an empty success.
func TestIsolation_InnerHookPanics(t *testing.T) {
	for want, do := range map[string]func(){"panic: ouch": func() { panic("ouch") }, "goexit": runtime.Goexit} {
		for _, after := range []bool{false, true} {
			for _, size := range []int{1, 5} {
				for _, endless := range []bool{true, false} {
					name := fmt.Sprintf("%s,after=%v,size=%d,endless=%v", want, after, size, endless)
					t.Run(name, func(t *testing.T) { innerHookEnds(t, want, do, after, size, endless) })
				}
			}
		}
	}
}

func innerHookEnds(t *testing.T, want string, do func(), after bool, size int, endless bool) {
	ctx := context.Background()
	if !endless {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
	}
	r := newRig(t)
	r.plain.Set(ctx, r.key("k"), "v", 0)
	r.inner.onSend(func([]string) func() {
		if after {
			return do
		}
		do()
		return nil
	})
	var fatal atomic.Int32
	call := func() {
		var cmd *redis.StringCmd
		switch end := endOf(func() { cmd = r.rdb.Get(ctx, r.key("k")) }); {
		case end == want:
			fatal.Add(1)
		case end != "returned":
			t.Errorf("a call ended with %q, want %q", end, want)
		case after && (cmd.Val() != "v" || cmd.Err() != nil):
			t.Errorf("the reply had come, but the caller got %q, %v", cmd.Val(), cmd.Err())
		case !after && cmd.Err() == nil:
			t.Errorf("%q and no error from a command that was not sent", cmd.Val())
		}
	}
	if size == 1 {
		call()
	} else {
		r.together(call, call, call, call, call)
	}
	if n := fatal.Load(); n != 1 {
		t.Errorf("%d of %d callers saw the %s, want 1", n, size, want)
	}
	r.works()
}

// TestIsolation_ObserverPanics: the same for an observer's code. No caller may take an empty result for a reply.
func TestIsolation_ObserverPanics(t *testing.T) {
	var armed atomic.Bool
	boom := func() {
		if armed.Load() {
			panic("ouch")
		}
	}
	for name, ev := range map[string]telemetry.Events{
		"start": {BatchStart: func(ctx context.Context, b *telemetry.Batch) context.Context { boom(); return ctx }},
		"end":   {BatchEnd: func(context.Context, *telemetry.Batch) { boom() }},
	} {
		everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
			armed.Store(false)
			r := newRig(t, autopipe.WithObserver(observer(func(telemetry.Pipe) telemetry.Events { return ev })))
			r.plain.Set(ctx, r.key("k"), "v", 0)
			call := func() {
				var cmd *redis.StringCmd
				if endOf(func() { cmd = r.rdb.Get(ctx, r.key("k")) }) == "returned" && cmd.Err() == nil && cmd.Val() != "v" {
					t.Errorf("%s: %q and no error", name, cmd.Val())
				}
			}
			if batched {
				r.inner.onSend(nil)
				held, release := r.inner.hold()
				var wg sync.WaitGroup
				wg.Go(func() { endOf(func() { r.rdb.Echo(ctx, heldEcho) }) })
				<-held
				for i := range 4 {
					wg.Go(call)
					until(t, "the call to queue", func() bool { return r.ap.Stats().Queued == i+1 })
				}
				armed.Store(true)
				release()
				wg.Wait()
			} else {
				armed.Store(true)
				call()
			}
			armed.Store(false)
			r.works()
		})
	}
}
