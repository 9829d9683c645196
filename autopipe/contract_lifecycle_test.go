package autopipe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// Hooks come and go under load, in both orders, while go-redis dials connections in the background and builds a chain
// for each (go-redis 2453, 3868). Batching goes on; a hook before autopipe sees single commands with their time in the
// queue, one behind it sees batches.
func TestLife_HooksAddedUnderLoad(t *testing.T) {
	srv := redistest.Shared(t)
	rdb := srv.Client(t, func(o *redis.Options) { o.MinIdleConns, o.ConnMaxLifetime = 8, 20*time.Millisecond })
	ap := autopipe.New()
	before, behind := stRecord(), stRecord()
	var running sync.Map // commands within the hook before
	var outside, behindSeen atomic.Int64
	rdb.AddHook(before)
	rdb.AddHook(stHooks{process: func(next redis.ProcessHook) redis.ProcessHook {
		return func(ctx context.Context, cmd redis.Cmder) error {
			running.Store(cmd, true)
			defer running.Delete(cmd)
			return next(ctx, cmd)
		}
	}})

	var replies atomic.Int64
	stop := stCompany(48, func(i int) {
		want := fmt.Sprint("under load ", i)
		if v, err := rdb.Echo(stCtx, want).Result(); v != want || err != nil {
			t.Errorf("%q, %v; want %q", v, err, want)
		}
		replies.Add(1)
	})
	defer stop()
	more := func() {
		n := replies.Load()
		stUntil(t, "1000 more replies", func() bool { return replies.Load() > n+1000 })
	}
	more()
	rdb.AddHook(ap)
	more()
	rdb.AddHook(behind)
	rdb.AddHook(stHooks{pipeline: func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
		return func(ctx context.Context, cmds []redis.Cmder) error {
			for _, cmd := range cmds {
				if cmd.Name() == "echo" {
					behindSeen.Add(1)
					if _, ok := running.Load(autopipe.Unwrap(cmd)); !ok {
						outside.Add(1)
					}
				}
			}
			return next(ctx, cmds)
		}
	}})
	for range 10 {
		more()
		rdb.AddHook(stHooks{})
	}
	n := ap.Stats()
	more()
	stop()
	s := ap.Stats()
	if mean := float64(s.Commands-n.Commands) / float64(s.Batches-n.Batches); mean < 1.5 {
		t.Errorf("after the last hook was added the mean batch was %.2f", mean)
	}
	if _, piped := before.counts("echo"); piped != 0 {
		t.Errorf("the hook before autopipe saw %d commands in pipelines", piped)
	}
	if alone, _ := before.counts("echo"); int64(alone) != replies.Load() {
		t.Errorf("the hook before autopipe saw %d of %d commands", alone, replies.Load())
	}
	if _, piped := behind.counts("echo"); piped == 0 || behindSeen.Load() == 0 || outside.Load() != 0 {
		t.Errorf("behind autopipe %d commands came in batches, %d while the hook before was not around them", piped, outside.Load())
	}
	stAtRest(t, ap)
}

// Hooks may read cmd.Err() before and after next (go-redis 3867); it neither waits nor lies.
func TestLife_HooksReadErr(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := srv.Client(t), autopipe.New()
	reader := func() redis.Hook {
		check := func(cmd redis.Cmder, err error) {
			if e := cmd.Err(); e != nil && cmd.Name() != "client" && e.Error() != "WRONGTYPE Operation against a key holding the wrong kind of value" {
				t.Errorf("%v: %v (next returned %v)", cmd.Name(), e, err)
			}
			_ = cmd.String()
		}
		return stHooks{
			process: func(next redis.ProcessHook) redis.ProcessHook {
				return func(ctx context.Context, cmd redis.Cmder) error {
					check(cmd, nil)
					err := next(ctx, cmd)
					check(cmd, err)
					return err
				}
			},
			pipeline: func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
				return func(ctx context.Context, cmds []redis.Cmder) error {
					for _, cmd := range cmds {
						check(cmd, nil)
					}
					err := next(ctx, cmds)
					for _, cmd := range cmds {
						check(cmd, err)
						if strings.HasPrefix(cmd.Name(), "lpush") != (cmd.Err() != nil) && cmd.Name() != "client" {
							t.Errorf("after next: %v: %v", cmd.Name(), cmd.Err())
						}
					}
					return err
				}
			},
		}
	}
	rdb.AddHook(reader())
	rdb.AddHook(ap)
	rdb.AddHook(reader())
	rdb.Set(stCtx, "text", "x", 0)
	stMany(64, func(i int) {
		ctx, cancel := stCtx, context.CancelFunc(func() {})
		if i%2 == 0 {
			ctx, cancel = context.WithCancel(stCtx) // these travel as copies
		}
		defer cancel()
		for range 20 {
			if v, err := rdb.Get(ctx, "text").Result(); v != "x" || err != nil {
				t.Errorf("%q, %v", v, err)
			}
			if err := rdb.LPush(ctx, "text", 1).Err(); err == nil || !strings.HasPrefix(err.Error(), "WRONGTYPE") {
				t.Errorf("LPUSH to a text: %v", err)
			}
		}
	})
	stShared(t, ap)
}

// One hook value on two clients makes two lanes. Nothing ever crosses from one to the other's database.
func TestLife_SameHookTwoClients(t *testing.T) {
	srv := redistest.Run(t)
	ap := autopipe.New()
	var rdb [2]*redis.Client
	for db := range rdb {
		rdb[db] = srv.Client(t, func(o *redis.Options) { o.DB, o.MinIdleConns, o.ConnMaxLifetime = db+1, 4, 20*time.Millisecond })
		rdb[db].AddHook(ap)
		rdb[db].AddHook(stHooks{pipeline: func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
			return func(ctx context.Context, cmds []redis.Cmder) error {
				for _, cmd := range cmds {
					if a := cmd.Args(); len(a) > 2 && a[0] == "set" && a[2] != db {
						t.Errorf("%v in a batch of client %d", a, db)
					}
				}
				return next(ctx, cmds)
			}
		}})
		rdb[db].Set(stCtx, "db", db, 0)
	}
	stMany(128, func(i int) {
		db := i % 2
		for range 30 {
			if v, err := rdb[db].Get(stCtx, "db").Int(); v != db || err != nil {
				t.Errorf("client %d read %d, %v", db, v, err)
			}
			if err := rdb[db].Set(stCtx, "db", db, 0).Err(); err != nil {
				t.Error(err)
			}
		}
	})
	stShared(t, ap)
	if s := ap.Stats(); s.Commands != 2+128*60 || s.Outcomes["ok"] != s.Commands {
		t.Errorf("both clients count together: %v", s)
	}
}

// Close ends a busy client at once: every caller gets an answer or an error, and none of our goroutines remains.
func TestLife_CloseUnderLoad(t *testing.T) {
	srv := redistest.Shared(t)
	for range 5 {
		rdb, ap := stNew(t, srv, nil)
		var errs sync.Map
		var calls atomic.Int64
		const callers = 200
		started := make(chan struct{})
		var once sync.Once
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			stMany(callers, func(i int) {
				ctx, cancel := stCtx, context.CancelFunc(func() {})
				if i%2 == 0 {
					ctx, cancel = context.WithTimeout(stCtx, time.Minute)
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
		case <-time.After(5 * time.Second):
			t.Fatalf("callers are stuck after Close: %v", ap.Stats())
		}
		errs.Range(func(text, err any) bool {
			t.Logf("saw: %v", text)
			return true
		})
		stShared(t, ap)
		stAtRest(t, ap)
	}
}

// The server hangs, the queue is full, the client is closed (rueidis 108): everybody returns, at the latest when the
// client's own timeouts end what is in flight.
func TestLife_FrozenServerFullQueueClose(t *testing.T) {
	const queue, callers, timeout = 50, 300, 300 * time.Millisecond
	for _, closes := range []bool{true, false} {
		t.Run(fmt.Sprintf("close=%v", closes), func(t *testing.T) {
			srv := redistest.Run(t)
			rdb := srv.Client(t, func(o *redis.Options) {
				o.ReadTimeout, o.WriteTimeout, o.DialTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
				o.DialerRetries = 1
			})
			ap := autopipe.New(autopipe.WithMaxQueue(queue), autopipe.WithMaxRetries(1))
			rdb.AddHook(ap)
			stMany(callers, func(int) { rdb.Ping(stCtx) })
			if err := srv.Freeze(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = srv.Thaw() }()
			var full, failed, fine atomic.Int64
			done := make(chan struct{})
			start := time.Now()
			go func() {
				defer close(done)
				stMany(callers, func(i int) {
					switch err := rdb.Incr(stCtx, "n").Err(); {
					case errors.Is(err, autopipe.ErrQueueFull):
						full.Add(1)
					case err != nil:
						failed.Add(1)
					default:
						fine.Add(1)
					}
				})
			}()
			stUntil(t, "the queue overflows", func() bool { return full.Load() > 0 })
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
			stAtRest(t, ap)
		})
	}
}

// Clients come and go for the life of a program that keeps one hook (go-redis 3424).
func TestLife_ThousandClients(t *testing.T) {
	srv := redistest.Shared(t)
	ap := autopipe.New()
	use := func(n int) {
		stMany(4, func(int) {
			for range n / 4 {
				rdb := redis.NewClient(&redis.Options{Addr: srv.Addr(), DisableIdentity: true})
				rdb.AddHook(ap)
				stMany(2, func(int) { rdb.Ping(stCtx) })
				conn := rdb.Conn() // a chain and a lane of its own
				conn.Ping(stCtx)
				_ = conn.Close()
				_ = rdb.Close()
			}
		})
	}
	size := func() (heap uint64, goroutines, series int) {
		stAtRest(t, ap)
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
	stUntil(t, "go-redis's goroutines end", func() bool {
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

// stEvents formats whatever an observer is told.
type stEvents struct {
	mu    sync.Mutex
	text  bytes.Buffer
	large int // direct because of the size
}

func (o *stEvents) note(e any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(&o.text, "%+v\n", e)
}

func (o *stEvents) Attach(telemetry.Pipe) telemetry.Events {
	return telemetry.Events{
		BatchStart: func(ctx context.Context, b *telemetry.Batch) context.Context { o.note(*b); return ctx },
		BatchEnd:   func(_ context.Context, b *telemetry.Batch) { o.note(*b) },
		Direct: func(_ context.Context, d *telemetry.Direct) {
			o.note(*d)
			if d.Reason == telemetry.DirectLarge {
				o.mu.Lock()
				o.large++
				o.mu.Unlock()
			}
		},
		Retry: func(_ context.Context, r *telemetry.Retry) { o.note(*r) },
		Drop:  func(_ context.Context, d *telemetry.Drop) { o.note(*d) },
	}
}

// A reply of 64 MB beside small ones (StackExchange 1279), and a request of 50 MB, which goes alone. No value reaches an
// observer.
func TestLife_LargeValues(t *testing.T) {
	const size = 64 << 20
	srv := redistest.Run(t)
	stDo(t, srv, "SETRANGE", "big", fmt.Sprint(size-1), "x")
	obs, rdb := &stEvents{}, srv.Client(t)
	ap := autopipe.New(autopipe.WithObserver(obs))
	rdb.AddHook(ap)
	rdb.Set(stCtx, "small", "sesame", 0)
	var mu sync.Mutex
	var took []time.Duration
	stop := stCompany(16, func(int) {
		start := time.Now()
		if v, err := rdb.Get(stCtx, "small").Result(); v != "sesame" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
		mu.Lock()
		took = append(took, time.Since(start))
		mu.Unlock()
	})
	defer stop()
	var slowest time.Duration
	for range 2 {
		start := time.Now()
		if v, err := rdb.Get(stCtx, "big").Result(); len(v) != size || err != nil {
			t.Errorf("%d bytes, %v", len(v), err)
		}
		slowest = max(slowest, time.Since(start))
	}
	value := strings.Repeat("sesame", 50<<20/6)
	if err := rdb.Set(stCtx, "large", value, 0).Err(); err != nil {
		t.Error(err)
	}
	stUntil(t, "10,000 small GETs", func() bool { mu.Lock(); defer mu.Unlock(); return len(took) > 10000 })
	stop()
	stShared(t, ap)
	slices.Sort(took)
	// Only the small ones in the very batch of a large one wait for it: 16 callers, three times, of 10,000.
	p99 := took[len(took)*99/100]
	if p99 > slowest/2 {
		t.Errorf("p99 of %d small GETs: %v; 64 MB: %v", len(took), p99, slowest)
	}
	t.Logf("64 MB: %v; %d small GETs, p50 %v, p99 %v, max %v", slowest, len(took), took[len(took)/2], p99, took[len(took)-1])
	if n, err := rdb.StrLen(stCtx, "large").Result(); n != int64(len(value)) || err != nil || obs.large != 1 || ap.Stats().Direct["large"] != 1 {
		t.Errorf("SET of 50 MB: %d, %v, %d direct; %v", n, err, obs.large, ap.Stats())
	}
	if rdb.Close(); bytes.Contains(obs.text.Bytes(), []byte("sesame")) {
		t.Error("a value reached the observer")
	}
}

// Whoever has written reads what it wrote, however many others do the same.
func TestLife_ReadYourWrites(t *testing.T) {
	srv := redistest.Shared(t)
	rdb, ap := stNew(t, srv, nil)
	stMany(2000, func(i int) {
		ctx, cancel := stCtx, context.CancelFunc(func() {})
		if i%2 == 0 {
			ctx, cancel = context.WithCancel(stCtx)
		}
		defer cancel()
		key := fmt.Sprint("own ", i)
		for j := range 8 {
			if err := rdb.Set(ctx, key, j, 0).Err(); err != nil {
				t.Error(err)
			}
			if v, err := rdb.Get(ctx, key).Int(); v != j || err != nil {
				t.Errorf("goroutine %d wrote %d, read %d, %v", i, j, v, err)
			}
		}
	})
	stShared(t, ap)
	if s := ap.Stats(); s.MeanBatch() < 5 {
		t.Errorf("2000 callers, but %v", s)
	}
}

// The commands of a Window run in their order, and its windows one after the other, in the company of others.
func TestLife_WindowInOrder(t *testing.T) {
	srv := redistest.Shared(t)
	rdb, ap := stNew(t, srv, nil)
	stMany(50, func(i int) {
		w, key := autopipe.NewWindow(rdb), fmt.Sprint("window ", i)
		var pending []*autopipe.Pending
		var want []string
		for j := range 6 {
			w.Set(stCtx, key+" last", j, 0)
			for k := range 5 {
				w.RPush(stCtx, key, fmt.Sprint(j, k))
				want = append(want, fmt.Sprint(j, k))
			}
			last := w.Get(stCtx, key+" last")
			p := w.Submit(stCtx)
			if j%2 == 0 {
				if err := p.Wait(stCtx); err != nil || last.Val() != fmt.Sprint(j) {
					t.Errorf("window %d reads %q, %v", j, last.Val(), err)
				}
			}
			pending = append(pending, p)
		}
		for _, p := range pending {
			if err := p.Wait(stCtx); err != nil {
				t.Error(err)
			}
		}
		if got := rdb.LRange(stCtx, key, 0, -1).Val(); !slices.Equal(got, want) {
			t.Errorf("pushed %v, list %v", want, got)
		}
		rdb.Del(stCtx, key)
	})
	stShared(t, ap)
	stAtRest(t, ap)
}

// A client at rest has none of our goroutines, so it costs no CPU; and a lone caller's command runs on its own goroutine
// unless its context can end.
func TestLife_NothingAtRest(t *testing.T) {
	srv := redistest.Shared(t)
	for name, opt := range map[string]autopipe.Option{
		"default": nil, "linger": autopipe.WithLinger(time.Millisecond), "one": autopipe.WithMaxInFlight(1),
	} {
		t.Run(name, func(t *testing.T) {
			rdb, ap := srv.Client(t), autopipe.New(opt)
			var helpers atomic.Int64
			rdb.AddHook(ap)
			rdb.AddHook(stHooks{process: func(next redis.ProcessHook) redis.ProcessHook {
				return func(ctx context.Context, cmd redis.Cmder) error {
					helpers.Add(int64(stEngine() - 1)) // the caller itself is one
					return next(ctx, cmd)
				}
			}})
			for range 20 {
				rdb.Ping(stCtx)
			}
			if name != "linger" && helpers.Load() != 0 {
				t.Errorf("%d more goroutines for a lone caller's 20 commands", helpers.Load())
			}
			stAtRest(t, ap)
			stMany(100, func(int) { rdb.Ping(stCtx) })
			stAtRest(t, ap)
			ctx, cancel := context.WithCancel(stCtx)
			rdb.Ping(ctx)
			cancel()
			stAtRest(t, ap)
		})
	}
}
