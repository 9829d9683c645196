package autopipe_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// rig is a client with autopipe, a proxy between it and the server, and a hook behind autopipe that can hold the
// lane busy. The lane has one place in flight, so that what is called meanwhile goes out as one batch.
type rig struct {
	t     *testing.T
	srv   *redistest.Server
	proxy *redistest.Proxy
	rdb   *redis.Client // by way of proxy, with autopipe
	plain *redis.Client // straight to the server, without
	ap    *autopipe.Hook
	inner *innerHook
	run   int64 // makes keys new in every run
}

var rigRuns atomic.Int64

// failFast makes failing dials fail at once: go-redis would repeat each five times, 100 ms apart.
func failFast(o *redis.Options) {
	o.DialerRetries = 1
	o.ReadTimeout, o.WriteTimeout = 5*time.Second, 5*time.Second
}

func newRig(t *testing.T, opts ...autopipe.Option) *rig {
	t.Helper()
	return newRigOn(t, redistest.Shared(t), nil, opts...)
}

func newRigOn(t *testing.T, srv *redistest.Server, tune func(*redis.Options), opts ...autopipe.Option) *rig {
	t.Helper()
	proxy := redistest.RunProxy(t, srv.Addr())
	r := &rig{t: t, srv: srv, proxy: proxy, plain: srv.Client(t), inner: &innerHook{}, run: rigRuns.Add(1)}
	r.rdb = srv.Client(t, failFast, func(o *redis.Options) {
		o.Addr = proxy.Addr()
		if tune != nil {
			tune(o)
		}
	})
	r.ap = autopipe.New(append([]autopipe.Option{autopipe.WithMaxInFlight(1)}, opts...)...)
	r.rdb.AddHook(r.ap)
	r.rdb.AddHook(r.inner)
	return r
}

// key is a key of this test's own.
func (r *rig) key(name string) string { return fmt.Sprintf("%s:%d:%s", r.t.Name(), r.run, name) }

// together runs the calls so that they travel in one batch, in their order, and returns when all are back. Those
// that do not queue, because autopipe sends them directly, are back before the next one is made.
func (r *rig) together(calls ...func()) {
	r.t.Helper()
	held, release := r.inner.hold()
	var wg sync.WaitGroup
	wg.Go(func() { r.rdb.Echo(context.Background(), heldEcho) })
	<-held
	queued := 0
	for _, call := range calls {
		back := make(chan struct{})
		wg.Go(func() {
			defer close(back)
			call()
		})
		until(r.t, "the call to queue or to return", func() bool {
			if n := r.ap.Stats().Queued; n > queued {
				queued = n
				return true
			}
			return isClosed(back)
		})
	}
	release()
	wg.Wait()
}

// count reads a counter around autopipe and the proxy; a missing one is 0.
func (r *rig) count(key string) int {
	r.t.Helper()
	n, err := r.plain.Get(context.Background(), key).Int()
	if err != nil && err != redis.Nil {
		r.t.Fatal(err)
	}
	return n
}

// amid runs call alone, or in the middle of a batch whose other commands must not be touched by it: reads that hit
// before and behind it, a plain SET, and an INCR. broken says that the connection breaks under the batch, so that the
// INCR may be uncertain.
func (r *rig) amid(ctx context.Context, batched, broken bool, call func()) {
	r.t.Helper()
	if !batched {
		call()
		return
	}
	hit, set, n := r.key("hit"), r.key("set"), r.key("n")
	if err := r.plain.Set(ctx, hit, "v", 0).Err(); err != nil {
		r.t.Fatal(err)
	}
	if err := r.plain.Set(ctx, n, 41, 0).Err(); err != nil {
		r.t.Fatal(err)
	}
	get := func() {
		if v, err := r.rdb.Get(ctx, hit).Result(); v != "v" || err != nil {
			r.t.Errorf("neighbour GET: %q, %v; want v", v, err)
		}
	}
	r.inner.takeSizes()
	r.together(get, func() {
		if v, err := r.rdb.Set(ctx, set, "s", 0).Result(); v != "OK" || err != nil {
			r.t.Errorf("neighbour SET: %q, %v; want OK", v, err)
		}
	}, call, get, func() {
		v, err := r.rdb.Incr(ctx, n).Result()
		switch {
		case broken && isUncertain(err):
		case v != 42 || err != nil:
			r.t.Errorf("neighbour INCR: %d, %v; want 42", v, err)
		}
	}, get)
	if got := r.count(n); got != 42 {
		r.t.Errorf("neighbour's counter is %d, want 42", got)
	}
	if sizes := r.inner.takeSizes(); len(sizes) == 0 || largest(sizes) < 5 {
		r.t.Errorf("sends of %v commands: the test did not make a batch", sizes)
	}
}

// lost makes one call whose reply the proxy loses after the server has run it, alone or amid others.
func (r *rig) lost(ctx context.Context, batched bool, match string, call func()) {
	r.t.Helper()
	r.plain.Ping(ctx)
	r.rdb.Ping(ctx) // connect first, so that the cut meets the command and not the set-up
	rule := r.proxy.CutAfterRequest(match)
	r.amid(ctx, batched, true, call)
	if rule.Fired() != 1 {
		r.t.Errorf("the connection was cut %d times at %q, want 1", rule.Fired(), match)
	}
	r.proxy.Clear()
}

// works checks that the lane still does, both for a lone command and for a batch, and is at rest after it.
func (r *rig) works() {
	r.t.Helper()
	ctx := context.Background()
	r.inner.onSend(nil)
	r.inner.answer(nil)
	if err := r.rdb.Set(ctx, r.key("after"), "v", 0).Err(); err != nil {
		r.t.Errorf("a lone command afterwards: %v", err)
	}
	r.amid(ctx, true, false, func() {})
	atRest(r.t, r.ap)
}

// everyWay are the ways a command can travel: alone or in a batch, and under a context that can end or one that cannot
// (a command under one that can end travels as a copy).
func everyWay(t *testing.T, f func(t *testing.T, ctx context.Context, batched bool)) {
	for _, batched := range []bool{false, true} {
		for _, endless := range []bool{true, false} {
			t.Run(fmt.Sprintf("batched=%v,endless=%v", batched, endless), func(t *testing.T) {
				ctx := context.Background()
				if !endless {
					var cancel context.CancelFunc
					ctx, cancel = context.WithCancel(ctx)
					defer cancel()
				}
				f(t, ctx, batched)
			})
		}
	}
}

const heldEcho = "held by innerHook" // the argument of the ECHO that innerHook holds; tests make no other

// innerHook is a hook behind autopipe: it sees what goes out, can hold the lane, and can misbehave.
type innerHook struct {
	mu    sync.Mutex
	gate  chan struct{}
	held  chan struct{}
	sizes []int                          // of all sends but set-up and the held ECHO
	act   func(names []string) func()    // what to do at a send; the result is done after it
	reply func(cmds []redis.Cmder) error // in place of next, if it is set
}

func (h *innerHook) hold() (held <-chan struct{}, release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gate := make(chan struct{})
	h.gate, h.held = gate, make(chan struct{})
	return h.held, func() { close(gate) }
}

// onSend sets what happens at each send from now on.
func (h *innerHook) onSend(act func(names []string) func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.act = act
}

// answer has h answer by itself, without the server; nil ends that.
func (h *innerHook) answer(reply func(cmds []redis.Cmder) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reply = reply
}

// takeSizes returns the sizes of the sends since the last call.
func (h *innerHook) takeSizes() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sizes
	h.sizes = nil
	return s
}

func (h *innerHook) pass(cmds []redis.Cmder, next func() error) error {
	switch cmds[0].Name() {
	case "hello", "client", "auth":
		return next() // go-redis sets a connection up
	case "echo":
		h.mu.Lock()
		gate, held := h.gate, h.held
		h.held = nil
		h.mu.Unlock()
		if held != nil { // not a retry of it
			close(held)
			<-gate
		}
		return next()
	}
	names := make([]string, len(cmds))
	for i, c := range cmds {
		names[i] = c.Name()
	}
	h.mu.Lock()
	h.sizes = append(h.sizes, len(cmds))
	act, reply := h.act, h.reply
	h.mu.Unlock()
	if act != nil {
		if after := act(names); after != nil {
			defer after()
		}
	}
	if reply != nil {
		return reply(cmds)
	}
	return next()
}

func (h *innerHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *innerHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return h.pass([]redis.Cmder{cmd}, func() error { return next(ctx, cmd) })
	}
}

func (h *innerHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return h.pass(cmds, func() error { return next(ctx, cmds) })
	}
}
