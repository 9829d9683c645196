package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// No connection can be had, so nothing was sent.

// onePool gives pipelines no connections of their own, so that a test knows which ones there are.
func onePool(o *redis.Options) { o.PipelinePoolSize = -1 }

// flakyDialer counts dials, and fails as many of them as it is told to, with an error of its own kind.
type flakyDialer struct {
	dials, failures atomic.Int64
	err             error
}

func (d *flakyDialer) tune(o *redis.Options) {
	onePool(o)
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		d.dials.Add(1)
		if d.failures.Add(-1) >= 0 {
			return nil, d.err
		}
		var nd net.Dialer
		return nd.DialContext(ctx, network, addr)
	}
}

// backoffs is an observer that notes the pauses before retries, by attempt.
type backoffs struct {
	mu     sync.Mutex
	pauses map[int][]time.Duration
}

func (o *backoffs) Attach(telemetry.Pipe) telemetry.Events {
	o.pauses = map[int][]time.Duration{}
	return telemetry.Events{Retry: func(_ context.Context, r *telemetry.Retry) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.pauses[r.Attempt-1] = append(o.pauses[r.Attempt-1], r.Backoff)
	}}
}

// TestRetry_DialRefused: nothing was sent, so every command is sent again, whatever the dialer's error looks like.
func TestRetry_DialRefused(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for name, cause := range map[string]error{"refused": refused, "custom": errors.New("no ticket"), "eof": io.EOF} {
		everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
			d := &flakyDialer{err: cause}
			r := newRigOn(t, redistest.Shared(t), d.tune, autopipe.WithRetryBackoff(100*time.Microsecond, time.Millisecond))
			key := r.key(name)
			incr := func() {
				if n, err := r.rdb.Incr(ctx, key).Result(); n < 1 || n > 3 || err != nil {
					t.Errorf("%s: %d, %v; want success", name, n, err)
				}
			}
			if batched {
				// The held ECHO takes the one connection there is, and closes it; the batch has to dial.
				r.inner.onSend(func([]string) func() { return nil })
				r.together(func() { d.failures.Store(2); r.proxy.CutAll(); incr() }, incr, incr)
				if n := r.count(key); n != 3 {
					t.Errorf("%s: counter %d, want 3", name, n)
				}
				return
			}
			d.failures.Store(2)
			incr()
			if n := d.dials.Load(); n != 3 {
				t.Errorf("%s: %d dials, want 3", name, n)
			}
			if n := r.ap.Stats().Retries["dial"]; n != 2 {
				t.Errorf("%s: %d retries for dial, want 2", name, n)
			}
			if n := r.count(key); n != 1 {
				t.Errorf("%s: counter %d, want 1", name, n)
			}
		})
	}
}

// TestRetry_DialRefusedLimit: up to the limit, with go-redis's backoff: at random below a bound that doubles. The caller
// then gets the dialer's own error, for a write too: it is certain that it did not run.
func TestRetry_DialRefusedLimit(t *testing.T) {
	const least, greatest, limit = 2 * time.Millisecond, 9 * time.Millisecond, 5
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		d, obs := &flakyDialer{err: errors.New("no ticket")}, &backoffs{}
		r := newRigOn(t, redistest.Shared(t), d.tune, autopipe.WithObserver(obs),
			autopipe.WithMaxRetries(limit), autopipe.WithRetryBackoff(least, greatest))
		incr := func() {
			if err := r.rdb.Incr(ctx, r.key("n")).Err(); !errors.Is(err, d.err) || isUncertain(err) {
				t.Errorf("error %v, want %v", err, d.err)
			}
		}
		callers := 1
		if batched {
			callers = 3
			r.inner.onSend(func([]string) func() { d.failures.Store(1 << 30); r.proxy.CutAll(); return nil })
			r.together(incr, incr, incr)
		} else {
			d.failures.Store(1 << 30)
			incr()
			if n := d.dials.Load(); n != limit+1 {
				t.Errorf("%d dials, want %d", n, limit+1)
			}
		}
		obs.mu.Lock()
		defer obs.mu.Unlock()
		for attempt := 1; attempt <= limit; attempt++ {
			bound := min(least+least<<attempt, greatest)
			if n := len(obs.pauses[attempt]); n != callers {
				t.Errorf("retry %d: %d pauses, want %d", attempt, n, callers)
			}
			for _, p := range obs.pauses[attempt] {
				if p < least || p > bound {
					t.Errorf("retry %d: a pause of %v, want %v to %v", attempt, p, least, bound)
				}
			}
		}
		if n := len(obs.pauses); n != limit {
			t.Errorf("%d retries, want %d", n, limit)
		}
	})
}

// TestRetry_ContextEndsBackoff: a caller need not sit out the pause before a retry.
func TestRetry_ContextEndsBackoff(t *testing.T) {
	d := &flakyDialer{err: errors.New("no ticket")}
	r := newRigOn(t, redistest.Shared(t), d.tune, autopipe.WithRetryBackoff(time.Minute, time.Minute))
	d.failures.Store(1 << 30)
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan error)
	go func() { got <- r.rdb.Incr(ctx, r.key("n")).Err() }()
	until(t, "the first retry", func() bool { return r.ap.Stats().Retries["dial"] == 1 })
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestRetry_PoolTimeout: no connection came free in time, so nothing was sent, and every command is sent again.
func TestRetry_PoolTimeout(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		const limit = 2
		for _, frees := range []bool{true, false} {
			retries := map[bool]int{true: 100, false: limit}[frees]
			r := newRigOn(t, redistest.Shared(t), func(o *redis.Options) {
				o.PoolSize, o.PipelinePoolSize, o.PoolTimeout = 1, -1, 5*time.Millisecond
			}, autopipe.WithMaxRetries(retries), autopipe.WithRetryBackoff(time.Millisecond, 2*time.Millisecond))
			n, list := r.key(fmt.Sprint("n", frees)), r.key(fmt.Sprint("list", frees))
			incr := func() {
				switch _, err := r.rdb.Incr(ctx, n).Result(); {
				case frees && err != nil:
					t.Errorf("INCR: %v, want success", err)
				case !frees && (!errors.Is(err, redis.ErrPoolTimeout) || isUncertain(err)):
					t.Errorf("INCR: %v, want ErrPoolTimeout", err)
				}
			}
			hold := func() (end func()) { // takes the only connection
				done := make(chan struct{})
				go func() {
					defer close(done)
					_ = r.rdb.BLPop(context.Background(), 0, list).Err()
				}()
				until(t, "BLPOP to block", func() bool {
					info, err := r.srv.Info("clients")
					return err == nil && info["blocked_clients"] == "1"
				})
				return func() { r.plain.RPush(context.Background(), list, 1); <-done }
			}
			calls := 1
			var end func()
			run := incr
			if batched {
				calls = 3
				r.inner.onSend(func(names []string) func() {
					if names[0] == "incr" && end == nil {
						end = hold()
					}
					return nil
				})
				run = func() { r.together(incr, incr, incr) }
			} else {
				end = hold()
			}
			var wg sync.WaitGroup
			wg.Go(run)
			if frees {
				until(t, "two rounds of retries", func() bool { return r.ap.Stats().Retries["pool"] >= uint64(2*calls) })
				end()
			}
			wg.Wait()
			if !frees {
				end()
				if got := r.ap.Stats().Retries["pool"]; got != uint64(limit*calls) {
					t.Errorf("%d retries for the pool, want %d", got, limit*calls)
				}
			}
			if want := map[bool]int{true: calls, false: 0}[frees]; r.count(n) != want {
				t.Errorf("the counter is %d, want %d", r.count(n), want)
			}
		}
	})
}

// TestRetry_SetUpFails: the server takes the connection and closes it before go-redis has set it up, as one that starts
// or is full does behind a proxy. The user's command was not sent either.
func TestRetry_SetUpFails(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRigOn(t, redistest.Shared(t), onePool,
			autopipe.WithMaxRetries(100), autopipe.WithRetryBackoff(time.Millisecond, 2*time.Millisecond))
		n := r.key("n")
		fail := func() { r.proxy.DropNew(true); r.proxy.CutAll() }
		incr := func() {
			if err := r.rdb.Incr(ctx, n).Err(); err != nil {
				t.Errorf("INCR: %v, want success", err)
			}
		}
		want, run := 1, incr
		if batched {
			want = 3
			var once sync.Once
			r.inner.onSend(func([]string) func() { once.Do(fail); return nil })
			run = func() { r.together(incr, incr, incr) }
		} else {
			fail()
		}
		var wg sync.WaitGroup
		wg.Go(run)
		conns := r.proxy.Conns()
		until(t, "two more connections", func() bool {
			s := r.ap.Stats()
			return r.proxy.Conns() >= conns+2 || s.Outcomes["uncertain"] > 0
		})
		r.proxy.DropNew(false)
		wg.Wait()
		if got := r.count(n); got != want {
			t.Errorf("the counter is %d, want %d", got, want)
		}
	})
}
