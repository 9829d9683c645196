package autopipe_test

import (
	"context"
	"errors"
	"fmt"
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

// gate is a hook added behind autopipe. While it is shut, whatever is sent waits in it, so that commands queue.
type gate struct {
	mu      sync.Mutex
	open    chan struct{} // closed while open
	arrived chan int      // size of each send that reached the gate
}

func newGate() *gate {
	g := &gate{open: make(chan struct{}), arrived: make(chan int, 10000)}
	close(g.open)
	return g
}

func (g *gate) shut() {
	g.mu.Lock()
	g.open = make(chan struct{})
	g.mu.Unlock()
}

func (g *gate) release() {
	g.mu.Lock()
	close(g.open)
	g.mu.Unlock()
}

func (g *gate) pass(n int) {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	g.arrived <- n
	<-open
}

func (g *gate) DialHook(next redis.DialHook) redis.DialHook { return next }

func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if n := cmd.Name(); n != "hello" && n != "client" {
			g.pass(1)
		}
		return next(ctx, cmd)
	}
}

func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if n := cmds[0].Name(); n != "client" && n != "hello" {
			g.pass(len(cmds))
		}
		return next(ctx, cmds)
	}
}

// until waits for a condition that other goroutines bring about.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("waited 10 s in vain for: %s", what)
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// gated is a client with a hook of one place in flight, that place being held by a first command at the gate.
func gated(t *testing.T, opts ...autopipe.Option) (rdb *redis.Client, ap *autopipe.Hook, g *gate, open func()) {
	t.Helper()
	rdb = redistest.Shared(t).Client(t)
	ap = autopipe.New(append([]autopipe.Option{autopipe.WithMaxInFlight(1)}, opts...)...)
	g = newGate()
	rdb.AddHook(ap)
	rdb.AddHook(g)
	rdb.Ping(context.Background()) // connect
	<-g.arrived
	g.shut()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		rdb.Get(context.Background(), "gate")
	}()
	<-g.arrived
	var once sync.Once
	open = func() { once.Do(g.release); wg.Wait() }
	t.Cleanup(open)
	return rdb, ap, g, open
}

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
	case <-time.After(time.Second):
		t.Fatal("the caller did not return at once")
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
	rdb := redistest.Shared(t).Client(t)
	ap := autopipe.New()
	rdb.AddHook(ap)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := rdb.Incr(ctx, t.Name()).Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if s := ap.Stats(); s.Batches != 0 || s.Outcomes["cancelled"] != 1 {
		t.Errorf("stats %v, want nothing sent and one cancelled", s)
	}
}

// TestContext_EndsInFlight: the server does not answer for a while; callers alone and in a batch, reads and writes, all
// return within 5 ms of their deadline (50 ms allowed here, the machine may be busy), and the late replies meet nobody.
func TestContext_EndsInFlight(t *testing.T) {
	for _, callers := range []int{1, 50} {
		t.Run(fmt.Sprint(callers), func(t *testing.T) {
			srv := redistest.Run(t)
			rdb := srv.Client(t)
			rdb.AddHook(autopipe.New())
			bg := context.Background()
			for i := range callers {
				rdb.Set(bg, fmt.Sprint("k", i), strings.Repeat("x", 1000), 0)
			}
			if err := rdb.Do(bg, "client", "pause", "400", "all").Err(); err != nil {
				t.Fatal(err)
			}
			const limit = 50 * time.Millisecond
			var worst atomic.Int64
			var wg sync.WaitGroup
			for i := range callers {
				wg.Add(1)
				go func() {
					defer wg.Done()
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
				}()
			}
			wg.Wait()
			if w := time.Duration(worst.Load()); w > limit {
				t.Errorf("returned %v after the deadline, want at most %v", w, limit)
			}
			// After the pause everything works, and nobody reads a shifted reply.
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
	rdb := redistest.Shared(t).Client(t)
	ap := autopipe.New()
	rdb.AddHook(ap)
	bg := context.Background()
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
	var wg sync.WaitGroup
	var left atomic.Int64
	for g := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
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
		}()
	}
	wg.Wait()
	if left.Load() == 0 || ap.Stats().MeanBatch() < 2 {
		t.Errorf("%d callers left, mean batch %.1f: nothing was tried", left.Load(), ap.Stats().MeanBatch())
	}
}

// TestContext_LeaderLeaves: the caller that started a batch leaves while it travels; the others get their replies, and
// the lane goes on.
func TestContext_LeaderLeaves(t *testing.T) {
	rdb := redistest.Shared(t).Client(t)
	ap := autopipe.New(autopipe.WithMaxInFlight(1))
	g := newGate()
	rdb.AddHook(ap)
	rdb.AddHook(g)
	bg := context.Background()
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
	until(t, "lane at rest", func() bool { s := ap.Stats(); return s.Queued == 0 && s.InFlight == 0 })
}

// TestContext_StormOnTinyQueue: 10,000 callers with 10 ms each, a queue of 64, and a server that does not answer.
func TestContext_StormOnTinyQueue(t *testing.T) {
	srv := redistest.Run(t)
	rdb := srv.Client(t)
	ap := autopipe.New(autopipe.WithMaxQueue(64))
	rdb.AddHook(ap)
	bg := context.Background()
	rdb.Ping(bg)
	if err := rdb.Do(bg, "client", "pause", "2000", "all").Err(); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	const callers = 10000
	var full, ended, other atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
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
		}()
	}
	wg.Wait()
	took := time.Since(start)
	if full.Load() == 0 || ended.Load() == 0 || other.Load() != 0 {
		t.Errorf("%d refused, %d ended, %d other; want some, some, none", full.Load(), ended.Load(), other.Load())
	}
	if took > 1900*time.Millisecond { // well before the pause ends
		t.Errorf("the callers took %v", took)
	}
	until(t, "goroutines back to baseline", func() bool { return runtime.NumGoroutine() <= before+2 })
	s := ap.Stats()
	if s.Outcomes["rejected"] != uint64(full.Load()) || s.Outcomes["cancelled"] != uint64(ended.Load()) {
		t.Errorf("stats %v, want rejected %d and cancelled %d", s, full.Load(), ended.Load())
	}
}

func TestBackpressure_QueueFull(t *testing.T) {
	rdb, ap, _, open := gated(t, autopipe.WithMaxQueue(10))
	bg := context.Background()
	key := t.Name()
	got := make(chan error, 10)
	for range 10 {
		go func() { got <- rdb.Incr(bg, key).Err() }()
	}
	until(t, "10 queued", func() bool { return ap.Stats().Queued == 10 })
	start := time.Now()
	if err := rdb.Incr(bg, key).Err(); err != autopipe.ErrQueueFull {
		t.Errorf("error %v, want ErrQueueFull", err)
	}
	if took := time.Since(start); took > 100*time.Millisecond {
		t.Errorf("refused after %v, want at once", took)
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
	var wg sync.WaitGroup
	start := time.Now()
	for range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := sent.Add(1); n <= commands; n = sent.Add(1) {
				err := rdb.Set(context.Background(), "k", value, 0).Err()
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
		}()
	}
	wg.Wait()
	if wrong.Load() > 0 {
		t.Errorf("%d errors were neither ErrQueueFull nor a refused dial", wrong.Load())
	}
	if p := peak.Load(); p > 256<<20 {
		t.Errorf("heap reached %d MiB", p>>20)
	}
	t.Logf("%v, heap at most %d MiB, %v", time.Since(start).Round(time.Millisecond), peak.Load()>>20, ap.Stats())
	until(t, "lane at rest", func() bool { s := ap.Stats(); return s.Queued == 0 && s.InFlight == 0 })
}
