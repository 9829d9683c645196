package autopipe

import (
	"context"
	"runtime"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
)

// TestAlloc_Lone: a command by itself adds nothing to the garbage of the command, once the pools are warm. With a context
// that can end it travels as a copy, in a goroutine of its own: what is left are the closure of the go statement, and
// what the runtime makes of it.
func TestAlloc_Lone(t *testing.T) {
	l, _ := allocLane(t)
	cmd := redis.NewStringCmd(bg, "get", "key")
	if n := testing.AllocsPerRun(1000, func() { _ = l.process(bg, cmd) }); n != 0 {
		t.Errorf("a lone command allocates %v times, want 0", n)
	}
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	n := testing.AllocsPerRun(1000, func() { _ = l.process(ctx, cmd) })
	t.Logf("with a context that can end: %v", n)
	if n > 2 {
		t.Errorf("a lone command with a context that can end allocates %v times, want at most 2", n)
	}
}

// TestAlloc_Batched: neither does one in a batch. A batch itself may cost a few allocations.
func TestAlloc_Batched(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		per  float64 // batch
	}{
		{"endless context", bg, 3},
		{"context that can end", ctx, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, plug := allocLane(t)
			const callers = 64
			start, done := make(chan struct{}), make(chan struct{})
			defer close(start)
			for range callers {
				go func() {
					cmd := redis.NewStatusCmd(bg, "set", "key", "value")
					for range start {
						_ = l.process(c.ctx, cmd)
						done <- struct{}{}
					}
				}()
			}
			hold := redis.NewStringCmd(bg, "get", "plug")
			go func() {
				for range plug.again {
					_ = l.process(bg, hold)
					done <- struct{}{}
				}
			}()
			defer close(plug.again)
			before := l.h.Stats()
			rounds := 0
			n := testing.AllocsPerRun(200, func() {
				rounds++
				plug.again <- struct{}{}
				<-plug.in // the only place is taken: the rest queues
				for range callers {
					start <- struct{}{}
				}
				for queued := 0; queued < callers; runtime.Gosched() {
					l.mu.Lock()
					queued = l.q.n
					l.mu.Unlock()
				}
				plug.out <- struct{}{}
				for range callers + 1 {
					<-done
				}
			})
			s := l.h.Stats()
			if got := s.Batches - before.Batches; got > uint64(3*rounds) {
				t.Errorf("%d batches in %d rounds: the commands did not share", got, rounds)
			}
			t.Logf("%v allocations for %d commands in a batch", n, callers)
			if n > c.per {
				t.Errorf("%v allocations a batch of %d, want at most %v, and none per command", n, callers, c.per)
			}
		})
	}
}

// plug holds the command whose key is "plug" until it is let out.
type plug struct{ again, in, out chan struct{} }

// allocLane is a lane whose server answers at once and allocates nothing.
func allocLane(t *testing.T) (*lane, *plug) {
	if raceEnabled {
		t.Skip("the race detector allocates, and drops what is pooled at random; make alloc runs this without it")
	}
	p := &plug{make(chan struct{}), make(chan struct{}), make(chan struct{})}
	l := &lane{h: New(WithMaxInFlight(1)), chain: &hook.Chain{
		Process: func(_ context.Context, cmd redis.Cmder) error {
			if args := cmd.Args(); len(args) > 1 && args[1] == "plug" {
				p.in <- struct{}{}
				<-p.out
			}
			return nil
		},
		Pipeline: func(_ context.Context, cmds []redis.Cmder) error {
			for _, cmd := range cmds {
				cmd.SetErr(nil)
			}
			return nil
		},
		TxPipeline: func(context.Context, []redis.Cmder) error { return nil },
	}}
	l.locate(hook.Single)
	return l, p
}
