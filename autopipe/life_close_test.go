package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// Close ends a busy client at once: every caller gets an answer or an error, and none of our goroutines remains.
func TestLife_CloseUnderLoad(t *testing.T) {
	for range 5 {
		rdb, ap := hooked(t)
		var errs sync.Map
		var calls atomic.Int64
		const callers = 200
		started := make(chan struct{})
		var once sync.Once
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			many(callers, func(i int) {
				ctx, cancel := bg, context.CancelFunc(func() {})
				if i%2 == 0 {
					ctx, cancel = context.WithTimeout(bg, time.Minute)
				}
				defer cancel()
				for {
					v, err := rdb.Echo(ctx, "x").Result()
					if calls.Add(1) > 3*callers {
						once.Do(func() { close(started) })
					}
					if err != nil {
						errs.Store(err.Error(), err)
						if errors.Is(err, redis.ErrClosed) {
							return
						}
					} else if v != "x" {
						t.Errorf("a reply lost its way: %q", v)
					}
				}
			})
		}()
		<-started
		if err := rdb.Close(); err != nil {
			t.Error(err)
		}
		select {
		case <-finished:
		case <-time.After(time.Minute):
			t.Fatalf("callers are stuck after Close: %v", ap.Stats())
		}
		errs.Range(func(text, err any) bool {
			t.Logf("saw: %v", text)
			return true
		})
		mustShare(t, ap)
		atRest(t, ap)
	}
}

// The server hangs, the queue is full, the client is closed (rueidis 108): everybody returns, at the latest when the
// client's own timeouts end what is in flight.
func TestLife_FrozenServerFullQueueClose(t *testing.T) {
	const queue, callers, timeout = 50, 300, time.Second
	for _, closes := range []bool{true, false} {
		t.Run(fmt.Sprintf("close=%v", closes), func(t *testing.T) {
			srv := redistest.Run(t)
			rdb, ap := hookedOn(t, srv, func(o *redis.Options) {
				o.ReadTimeout, o.WriteTimeout, o.DialTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
				o.DialerRetries = 1
			}, autopipe.WithMaxQueue(queue), autopipe.WithMaxRetries(1))
			many(callers, func(int) { rdb.Ping(bg) })
			if err := srv.Freeze(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = srv.Thaw() }()
			var full, failed, fine atomic.Int64
			done := make(chan struct{})
			start := time.Now()
			go func() {
				defer close(done)
				many(callers, func(i int) {
					switch err := rdb.Incr(bg, "n").Err(); {
					case errors.Is(err, autopipe.ErrQueueFull):
						full.Add(1)
					case err != nil:
						failed.Add(1)
					default:
						fine.Add(1)
					}
				})
			}()
			until(t, "the queue overflows", func() bool { return full.Load() > 0 })
			if closes {
				if err := rdb.Close(); err != nil {
					t.Error(err)
				}
			}
			select {
			case <-done:
			case <-time.After(20 * timeout):
				t.Fatalf("callers are stuck: %v", ap.Stats())
			}
			took := time.Since(start)
			// In flight: one timeout. The queue behind it: the same again, and once more for what is retried.
			if most := 8 * timeout; took > most || closes && took > 3*timeout {
				t.Errorf("took %v", took)
			}
			if full.Load() == 0 || failed.Load() == 0 || fine.Load() != 0 || full.Load()+failed.Load() != callers {
				t.Errorf("%d full, %d failed, %d fine", full.Load(), failed.Load(), fine.Load())
			}
			if s := ap.Stats(); s.Outcomes["rejected"] != uint64(full.Load()) {
				t.Errorf("%d refusals: %v", full.Load(), s)
			}
			atRest(t, ap)
		})
	}
}

// Clients come and go for the life of a program that keeps one hook (go-redis 3424).
func TestLife_ThousandClients(t *testing.T) {
	srv := redistest.Shared(t)
	ap := autopipe.New()
	use := func(n int) {
		many(4, func(int) {
			for range n / 4 {
				rdb := redis.NewClient(&redis.Options{Addr: srv.Addr(), DisableIdentity: true})
				rdb.AddHook(ap)
				many(2, func(int) { rdb.Ping(bg) })
				conn := rdb.Conn() // a chain and a lane of its own
				conn.Ping(bg)
				_ = conn.Close()
				_ = rdb.Close()
			}
		})
	}
	size := func() (heap uint64, goroutines, series int) {
		atRest(t, ap)
		runtime.GC()
		runtime.GC() // pools keep what they hold for one more round
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		s := ap.Stats()
		return m.HeapAlloc, runtime.NumGoroutine(), len(s.Flushes) + len(s.Direct) + len(s.Outcomes) + len(s.Retries)
	}
	use(100)
	heap, goroutines, series := size()
	use(900)
	var heap2 uint64
	var goroutines2, series2 int
	until(t, "go-redis's goroutines end", func() bool {
		heap2, goroutines2, series2 = size()
		return goroutines2 <= goroutines+2
	})
	if heap2 > heap+1<<20 { // one lane kept for each Conn would be about 500 bytes, a client kept at least 10 KB
		t.Errorf("heap grew from %d to %d KB with 900 clients", heap>>10, heap2>>10)
	}
	if series != series2 {
		t.Errorf("series: %d, then %d", series, series2)
	}
	t.Logf("heap %d -> %d KB, goroutines %d -> %d", heap>>10, heap2>>10, goroutines, goroutines2)
}

// A client at rest has none of our goroutines, so it costs no CPU; and a lone caller's command runs on its own goroutine
// unless its context can end.
func TestLife_NothingAtRest(t *testing.T) {
	for name, opt := range map[string]autopipe.Option{
		"default": nil, "linger": autopipe.WithLinger(time.Millisecond), "one": autopipe.WithMaxInFlight(1),
	} {
		t.Run(name, func(t *testing.T) {
			rdb, ap := hooked(t, opt)
			var helpers atomic.Int64
			rdb.AddHook(hookFuncs{process: func(next redis.ProcessHook) redis.ProcessHook {
				return func(ctx context.Context, cmd redis.Cmder) error {
					helpers.Add(int64(engineGoroutines() - 1)) // the caller itself is one
					return next(ctx, cmd)
				}
			}})
			for range 20 {
				rdb.Ping(bg)
			}
			if name != "linger" && helpers.Load() != 0 {
				t.Errorf("%d more goroutines for a lone caller's 20 commands", helpers.Load())
			}
			atRest(t, ap)
			many(100, func(int) { rdb.Ping(bg) })
			atRest(t, ap)
			ctx, cancel := context.WithCancel(bg)
			rdb.Ping(ctx)
			cancel()
			atRest(t, ap)
		})
	}
}
