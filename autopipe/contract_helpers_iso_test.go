package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// isoRig is a client with autopipe, a proxy between it and the server, and a hook behind autopipe that can hold the
// lane busy. The lane has one place in flight, so that what is called meanwhile goes out as one batch.
type isoRig struct {
	t     *testing.T
	srv   *redistest.Server
	proxy *redistest.Proxy
	rdb   *redis.Client // by way of proxy, with autopipe
	plain *redis.Client // straight to the server, without
	ap    *autopipe.Hook
	inner *isoInner
	run   int64 // makes keys new in every run
}

var isoRuns atomic.Int64

// isoOptions makes failing dials fail at once: go-redis would repeat each five times, 100 ms apart.
func isoOptions(o *redis.Options) {
	o.DialerRetries = 1
	o.ReadTimeout, o.WriteTimeout = 5*time.Second, 5*time.Second
}

func isoNew(t *testing.T, opts ...autopipe.Option) *isoRig {
	t.Helper()
	return isoNewOn(t, redistest.Shared(t), nil, opts...)
}

func isoNewOn(t *testing.T, srv *redistest.Server, tune func(*redis.Options), opts ...autopipe.Option) *isoRig {
	t.Helper()
	proxy := redistest.RunProxy(t, srv.Addr())
	r := &isoRig{t: t, srv: srv, proxy: proxy, plain: srv.Client(t), inner: &isoInner{}, run: isoRuns.Add(1)}
	r.rdb = srv.Client(t, isoOptions, func(o *redis.Options) {
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
func (r *isoRig) key(name string) string { return fmt.Sprintf("%s:%d:%s", r.t.Name(), r.run, name) }

// together runs the calls so that they travel in one batch, in their order, and returns when all are back. Those
// that do not queue, because autopipe sends them directly, are back before the next one is made.
func (r *isoRig) together(calls ...func()) {
	r.t.Helper()
	held, release := r.inner.hold()
	var wg sync.WaitGroup
	wg.Go(func() { r.rdb.Echo(context.Background(), isoHeld) })
	<-held
	queued := 0
	for _, call := range calls {
		back := make(chan struct{})
		wg.Go(func() {
			defer close(back)
			call()
		})
		isoUntil(r.t, "the call to queue or to return", func() bool {
			if n := r.ap.Stats().Queued; n > queued {
				queued = n
				return true
			}
			return isoClosed(back)
		})
	}
	release()
	wg.Wait()
}

func isoClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// isoUntil waits for a condition that other goroutines bring about.
func isoUntil(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !cond(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 10 s in vain for: %s", what)
		}
	}
}

const isoHeld = "held by isoInner" // the argument of the ECHO that isoInner holds; tests make no other

// isoInner is a hook behind autopipe: it sees what goes out, can hold the lane, and can misbehave.
type isoInner struct {
	mu    sync.Mutex
	gate  chan struct{}
	held  chan struct{}
	sizes []int                          // of all sends but set-up and the held ECHO
	act   func(names []string) func()    // what to do at a send; the result is done after it
	reply func(cmds []redis.Cmder) error // in place of next, if it is set
}

func (h *isoInner) hold() (held <-chan struct{}, release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gate := make(chan struct{})
	h.gate, h.held = gate, make(chan struct{})
	return h.held, func() { close(gate) }
}

// onSend sets what happens at each send from now on.
func (h *isoInner) onSend(act func(names []string) func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.act = act
}

// answer has h answer by itself, without the server; nil ends that.
func (h *isoInner) answer(reply func(cmds []redis.Cmder) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reply = reply
}

// takeSizes returns the sizes of the sends since the last call.
func (h *isoInner) takeSizes() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sizes
	h.sizes = nil
	return s
}

func (h *isoInner) pass(cmds []redis.Cmder, next func() error) error {
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

func (h *isoInner) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *isoInner) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return h.pass([]redis.Cmder{cmd}, func() error { return next(ctx, cmd) })
	}
}

func (h *isoInner) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return h.pass(cmds, func() error { return next(ctx, cmds) })
	}
}

// isoWays are the ways a command can travel: alone or in a batch, and under a context that can end or one that cannot
// (a command under one that can end travels as a copy).
func isoWays(t *testing.T, f func(t *testing.T, ctx context.Context, batched bool)) {
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

// amid runs call alone, or in the middle of a batch whose other commands must not be touched by it: reads that hit
// before and behind it, a plain SET, and an INCR. broken says that the connection breaks under the batch, so that the
// INCR may be uncertain.
func (r *isoRig) amid(ctx context.Context, batched, broken bool, call func()) {
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
		case broken && isoUncertain(err):
		case v != 42 || err != nil:
			r.t.Errorf("neighbour INCR: %d, %v; want 42", v, err)
		}
	}, get)
	if got := r.count(n); got != 42 {
		r.t.Errorf("neighbour's counter is %d, want 42", got)
	}
	if sizes := r.inner.takeSizes(); len(sizes) == 0 || isoMax(sizes) < 5 {
		r.t.Errorf("sends of %v commands: the test did not make a batch", sizes)
	}
}

// count reads a counter around autopipe and the proxy; a missing one is 0.
func (r *isoRig) count(key string) int {
	r.t.Helper()
	n, err := r.plain.Get(context.Background(), key).Int()
	if err != nil && err != redis.Nil {
		r.t.Fatal(err)
	}
	return n
}

func isoMax(s []int) (m int) {
	for _, v := range s {
		m = max(m, v)
	}
	return m
}

// isoUncertain reports whether err is the error of a write that may have run.
func isoUncertain(err error) bool {
	var u *autopipe.UncertainError
	return errors.As(err, &u)
}
