package autopipe_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestBackpressure_QueueFull(t *testing.T) {
	rdb, ap, _, open := gated(t, autopipe.WithMaxQueue(10))
	key := t.Name()
	got := make(chan error, 10)
	for range 10 {
		go func() { got <- rdb.Incr(bg, key).Err() }()
	}
	until(t, "10 queued", func() bool { return ap.Stats().Queued == 10 })
	// Nothing moves before open: whoever waited would wait for all of a minute.
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	if err := rdb.Incr(ctx, key).Err(); err != autopipe.ErrQueueFull {
		t.Errorf("error %v, want ErrQueueFull", err)
	}
	open()
	for range 10 {
		if err := <-got; err != nil {
			t.Errorf("accepted command: %v", err)
		}
	}
	if n, err := rdb.Get(bg, key).Int(); n != 10 || err != nil {
		t.Errorf("counter %d, %v, want 10: nothing accepted may be lost, nothing refused may run", n, err)
	}
	if n := ap.Stats().Outcomes["rejected"]; n != 1 {
		t.Errorf("%d rejected, want 1", n)
	}
}

func TestBlockOnFull(t *testing.T) {
	rdb, ap, _, open := gated(t, autopipe.WithMaxQueue(2), autopipe.WithBlockOnFull())
	autopipe.Submit(bg, rdb, redis.NewIntCmd(bg, "incr", t.Name()))
	autopipe.Submit(bg, rdb, redis.NewIntCmd(bg, "incr", t.Name()))
	// Waits within its context.
	short, cancel := context.WithTimeout(bg, 5*time.Millisecond)
	defer cancel()
	if _, err := autopipe.Submit(short, rdb, redis.NewIntCmd(bg, "incr", t.Name())).Wait(bg); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Submit on a full queue: %v, want DeadlineExceeded", err)
	}
	// A window that can never fit is refused.
	w := autopipe.NewWindow(rdb)
	for range 3 {
		w.Incr(bg, t.Name())
	}
	if err := w.Submit(bg).Wait(bg); err != autopipe.ErrQueueFull {
		t.Errorf("window larger than the queue: %v, want ErrQueueFull", err)
	}
	// Everybody else gets a turn.
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if i%2 == 0 {
				if err := rdb.Incr(bg, t.Name()).Err(); err != nil {
					t.Error(err)
				}
			} else if _, err := autopipe.Submit(bg, rdb, redis.NewIntCmd(bg, "incr", t.Name())).Wait(bg); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(5 * time.Millisecond)
	open()
	wg.Wait()
	if n := rdb.Get(bg, t.Name()).Val(); n != "52" {
		t.Errorf("counter %s, want 52", n)
	}
	if s := ap.Stats(); s.Outcomes["rejected"] != 3 || s.Outcomes["cancelled"] != 1 {
		t.Errorf("stats %v", s)
	}
}

// TestContext_StormOnTinyQueue: 10,000 callers with 10 ms each, a queue of 64, and a server that does not answer.
func TestContext_StormOnTinyQueue(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := hookedOn(t, srv, func(o *redis.Options) { o.ReadTimeout = -1 }, autopipe.WithMaxQueue(64))
	rdb.Ping(bg)
	if err := srv.Freeze(); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	const callers = 10000
	var full, ended, other atomic.Int64
	many(callers, func(int) {
		ctx, cancel := context.WithTimeout(bg, 10*time.Millisecond)
		defer cancel()
		switch err := rdb.Get(ctx, "k").Err(); {
		case errors.Is(err, autopipe.ErrQueueFull):
			full.Add(1)
		case errors.Is(err, context.DeadlineExceeded):
			ended.Add(1)
		default:
			other.Add(1)
		}
	})
	// The server has not answered anybody: the callers are here because nobody waited for it.
	if full.Load() == 0 || ended.Load() == 0 || other.Load() != 0 {
		t.Errorf("%d refused, %d ended, %d other; want some, some, none", full.Load(), ended.Load(), other.Load())
	}
	if err := srv.Thaw(); err != nil {
		t.Fatal(err)
	}
	until(t, "goroutines back to baseline", func() bool { return runtime.NumGoroutine() <= before+2 })
	s := ap.Stats()
	if s.Outcomes["rejected"] != uint64(full.Load()) || s.Outcomes["cancelled"] != uint64(ended.Load()) {
		t.Errorf("stats %v, want rejected %d and cancelled %d", s, full.Load(), ended.Load())
	}
}

// TestBackpressure_RedisDown: 200,000 commands of 10 KB against a server that is gone. The errors come fast and have
// types, and memory stays near what the queue may hold.
func TestBackpressure_RedisDown(t *testing.T) {
	srv := redistest.Run(t)
	addr := srv.Addr()
	_ = srv.Close()
	rdb := redis.NewClient(&redis.Options{Addr: addr, DialerRetries: 1, DialerRetryTimeout: time.Millisecond})
	defer func() { _ = rdb.Close() }()
	ap := autopipe.New(autopipe.WithMaxQueue(1000), autopipe.WithMaxRetries(1))
	rdb.AddHook(ap)
	const commands, callers = 200_000, 2000
	value := strings.Repeat("x", 10<<10)
	var sent, wrong atomic.Int64
	var peak atomic.Uint64
	start := time.Now()
	many(callers, func(int) {
		for n := sent.Add(1); n <= commands; n = sent.Add(1) {
			err := rdb.Set(bg, "k", value, 0).Err()
			if !errors.Is(err, autopipe.ErrQueueFull) && (err == nil || !strings.Contains(err.Error(), "refused")) {
				wrong.Add(1)
			}
			if n%10000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				for p := peak.Load(); m.HeapAlloc > p && !peak.CompareAndSwap(p, m.HeapAlloc); p = peak.Load() {
				}
			}
		}
	})
	if wrong.Load() > 0 {
		t.Errorf("%d errors were neither ErrQueueFull nor a refused dial", wrong.Load())
	}
	if p := peak.Load(); p > 256<<20 {
		t.Errorf("heap reached %d MiB", p>>20)
	}
	t.Logf("%v, heap at most %d MiB, %v", time.Since(start).Round(time.Millisecond), peak.Load()>>20, ap.Stats())
	atRest(t, ap)
}
