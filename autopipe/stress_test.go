package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestStress has hundreds of goroutines do all that users do, with contexts that end and connections that break at
// random, and holds every reply against a model: who reads his own key finds what he wrote, and each counter ends
// between the INCRs that succeeded and those plus the ones that may have run.
//
// It takes two seconds. AUTOPIPE_STRESS=2m (make stress) has it run that long, in rounds with other options each.
// A failure prints the seed of its round; AUTOPIPE_STRESS_SEED=n runs that round again. The seed fixes the options and
// what each goroutine does, not how they meet.
func TestStress(t *testing.T) {
	total, err := time.ParseDuration(cmpOr(os.Getenv("AUTOPIPE_STRESS"), "2s"))
	if err != nil {
		t.Fatalf("AUTOPIPE_STRESS: %v", err)
	}
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("AUTOPIPE_STRESS_SEED"); s != "" {
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("AUTOPIPE_STRESS_SEED: %v", err)
		}
	}
	for end := time.Now().Add(total); !t.Failed(); seed++ {
		left := time.Until(end)
		if left < 100*time.Millisecond {
			return
		}
		stressRound(t, seed, min(left, 5*time.Second))
	}
}

func cmpOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

const (
	stressWorkers  = 200
	stressCounters = 8
)

// stress is one round.
type stress struct {
	t     *testing.T
	rdb   *redis.Client
	proxy *redistest.Proxy
	name  string // before all keys
	cuts  atomic.Int64
	ops   atomic.Int64
	issue stressCount

	counters [stressCounters]struct{ ok, maybe atomic.Int64 }
}

func stressRound(t *testing.T, seed uint64, d time.Duration) {
	srv := redistest.Shared(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	opts := []autopipe.Option{
		autopipe.WithMaxBatch(1 << rnd.IntN(10)),
		autopipe.WithMaxInFlight(1 + rnd.IntN(8)),
		autopipe.WithMaxQueue(50 << rnd.IntN(8)),
		autopipe.WithRetry(autopipe.RetryPolicy(rnd.IntN(2))), // safe or none: the other one may run INCR twice
		autopipe.WithLinger(time.Duration(max(0, rnd.IntN(4)-2)) * 100 * time.Microsecond),
		autopipe.WithRetryBackoff(time.Millisecond, 5*time.Millisecond),
	}
	defer func() {
		if t.Failed() {
			t.Logf("run again with AUTOPIPE_STRESS_SEED=%d", seed)
		}
	}()
	before := runtime.NumGoroutine()
	proxy, err := redistest.NewProxy(srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	s := &stress{t: t, proxy: proxy, name: fmt.Sprintf("stress:%d:", seed)}
	s.rdb = srv.Client(t, isoOptions, func(o *redis.Options) {
		o.Addr = proxy.Addr()
		o.PoolSize, o.PoolTimeout = 2+rnd.IntN(10), 300*time.Millisecond
	})
	ap := autopipe.New(opts...)
	s.rdb.AddHook(&s.issue)
	s.rdb.AddHook(ap)

	stop := make(chan struct{})
	var chaos, workers sync.WaitGroup
	chaos.Go(func() { s.chaos(rnd, stop) })
	for i := range stressWorkers {
		w := &stressWorker{stress: s, rnd: rand.New(rand.NewPCG(seed, uint64(i+1))), name: fmt.Sprintf("%s%d:", s.name, i)}
		workers.Go(func() {
			for !isoClosed(stop) {
				s.ops.Add(1)
				w.step()
			}
		})
	}
	time.Sleep(d)
	close(stop)
	chaos.Wait()
	workers.Wait()
	isoUntil(t, "the lanes to be at rest", func() bool {
		st := ap.Stats()
		return st.Queued == 0 && st.InFlight == 0
	})
	s.check(srv.Client(t), ap)
	_ = s.rdb.Close()
	_ = proxy.Close()
	isoUntil(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= before+10 })
	t.Logf("%d operations, %d cuts; %v", s.ops.Load(), s.cuts.Load(), ap.Stats())
}

// check compares the counters with their brackets, and what the hook counted with what passed it.
func (s *stress) check(plain *redis.Client, ap *autopipe.Hook) {
	for i := range s.counters {
		c := &s.counters[i]
		v, err := plain.Get(context.Background(), s.counter(i)).Int64()
		if err != nil && err != redis.Nil {
			s.t.Fatal(err)
		}
		if lo, hi := c.ok.Load(), c.ok.Load()+c.maybe.Load(); v < lo || v > hi {
			s.t.Errorf("counter %d is %d, want %d to %d", i, v, lo, hi)
		}
	}
	st := ap.Stats()
	var outcomes uint64
	for _, n := range st.Outcomes {
		outcomes += n
	}
	if issued := s.issue.returned.Load(); outcomes != uint64(issued) {
		s.t.Errorf("%d commands returned, %d outcomes were counted: %v", issued, outcomes, st)
	}
}

func (s *stress) counter(i int) string { return fmt.Sprintf("%scounter:%d", s.name, i) }

// chaos breaks what the workers use.
func (s *stress) chaos(rnd *rand.Rand, stop chan struct{}) {
	hooks := 0
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(rnd.IntN(100)) * time.Millisecond):
		}
		switch rnd.IntN(60) {
		default:
			s.cuts.Add(1)
			s.proxy.CutAll()
		case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9:
			s.proxy.HoldReplies(true)
			time.Sleep(time.Duration(rnd.IntN(5)) * time.Millisecond)
			s.proxy.HoldReplies(false)
		case 10: // rare: after a few refused dials go-redis itself refuses for a second
			s.cuts.Add(1)
			_ = s.proxy.Refuse(true)
			s.proxy.CutAll()
			time.Sleep(time.Duration(rnd.IntN(3)) * time.Millisecond)
			_ = s.proxy.Refuse(false)
		case 11, 12, 13, 14:
			if hooks++; hooks <= 3 {
				s.rdb.AddHook(stressPass{})
			}
		}
	}
}

// stressCount counts what returns to it from autopipe: all but the set-up of connections, and panics.
type stressCount struct{ returned atomic.Int64 }

func (h *stressCount) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *stressCount) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if n := cmd.Name(); n != "hello" && n != "client" {
			h.returned.Add(1)
		}
		return err
	}
}
func (h *stressCount) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// stressPass is a hook that a program adds while it runs.
type stressPass struct{}

func (stressPass) DialHook(next redis.DialHook) redis.DialHook { return next }
func (stressPass) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return next(ctx, cmd) }
}
func (stressPass) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return next(ctx, cmds) }
}

// stressWorker is one goroutine. It has a key that nobody else writes.
type stressWorker struct {
	*stress
	rnd  *rand.Rand
	name string
	gen  int           // a key is left for good once it is not known what may still be written to it
	seq  int           // last value written
	cut  map[int]int64 // for each value of this generation, the cuts before it was sent
	last [stressCounters]int64
}

func (w *stressWorker) key() string   { return w.name + strconv.Itoa(w.gen) }
func (w *stressWorker) forget()       { w.gen, w.seq, w.cut = w.gen+1, 0, nil }
func (w *stressWorker) value() string { return w.key() + "=" + strconv.Itoa(w.seq) }

// context is one of the kinds that users have.
func (w *stressWorker) context() (context.Context, context.CancelFunc) {
	ctx := context.Background()
	switch w.rnd.IntN(8) {
	case 0:
		return context.WithTimeout(ctx, time.Duration(w.rnd.IntN(5000))*time.Microsecond)
	case 1:
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Duration(w.rnd.IntN(3000))*time.Microsecond, cancel)
		return ctx, cancel
	case 2, 3, 4:
		return context.WithCancel(ctx)
	}
	return ctx, func() {}
}

// unknown reports whether the command may have run, or may yet run.
func stressUnknown(ctx context.Context, err error) bool {
	return isoUncertain(err) || ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

func (w *stressWorker) step() {
	ctx, cancel := w.context()
	defer cancel()
	switch p := w.rnd.IntN(100); {
	case p < 30:
		w.write(ctx, func(v string) error { return w.rdb.Set(ctx, w.key(), v, time.Minute).Err() })
	case p < 55:
		w.read(w.rdb.Get(ctx, w.key()).Result())
	case p < 75:
		w.incr(ctx)
	case p < 80:
		if err := w.rdb.Get(ctx, w.name+"none").Err(); err == nil {
			w.t.Error("a key that nobody wrote has a value")
		}
	case p < 84:
		w.fails(w.rdb.LPush(ctx, w.key(), "x").Err(), "WRONGTYPE")
	case p < 87:
		w.fails(w.rdb.Set(ctx, w.name+"struct", struct{}{}, 0).Err(), "can't marshal")
	case p < 89:
		w.fails(w.rdb.Set(ctx, w.name+"m", isoMarshal(func() ([]byte, error) { return nil, errIsoMarshal }), 0).Err(), errIsoMarshal.Error())
	case p < 91:
		func() {
			defer func() {
				if v := recover(); v != "ouch" && ctx.Err() == nil {
					w.t.Errorf("a panicking marshaller ended with %v", v)
				}
			}()
			w.rdb.Set(ctx, w.name+"p", isoMarshal(func() ([]byte, error) { panic("ouch") }), 0)
		}()
	case p < 93: // too large for a batch
		w.write(ctx, func(v string) error {
			return w.rdb.Set(ctx, w.key(), v+strings.Repeat(" ", 200<<10), time.Minute).Err()
		})
	case p < 95:
		c := w.rdb.Conn()
		w.read(c.Get(ctx, w.key()).Result())
		_ = c.Close()
	case p < 97:
		w.watch(ctx)
	case p < 98:
		_ = w.rdb.BLPop(ctx, 10*time.Millisecond, w.name+"list").Err()
	default:
		var get *redis.StringCmd
		_, _ = w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			get = p.Get(ctx, w.key())
			p.Exists(ctx, w.key())
			return nil
		})
		w.read(get.Result())
	}
}

// write sends the next value by set.
func (w *stressWorker) write(ctx context.Context, set func(value string) error) {
	if w.cut == nil {
		w.cut = map[int]int64{0: 0}
	}
	old := w.seq
	w.seq++
	w.cut[w.seq] = w.cuts.Load()
	switch err := set(w.value()); {
	case err == nil:
	case errors.Is(err, autopipe.ErrQueueFull): // that one was not sent
		w.seq = old
	default: // it may have run, and may even arrive late; the error is the last sending's alone
		w.forget()
	}
}

// read holds a value against the last one written. An older one may come back if a connection broke since it was sent:
// the server may find it in its buffers after the retry. That is Redis's way, and go-redis's.
func (w *stressWorker) read(v string, err error) {
	if v = strings.TrimRight(v, " "); err == redis.Nil {
		v = w.key() + "=0"
	} else if err != nil {
		return
	}
	if v == w.value() {
		return
	}
	seq, e := strconv.Atoi(strings.TrimPrefix(v, w.key()+"="))
	if e != nil || seq == 0 || seq > w.seq || w.cut[seq] == w.cuts.Load() {
		w.t.Errorf("read %q, want %q", v, w.value())
	}
	w.forget()
}

func (w *stressWorker) incr(ctx context.Context) {
	i := w.rnd.IntN(stressCounters)
	c := &w.counters[i]
	n, err := w.rdb.Incr(ctx, w.counter(i)).Result()
	switch {
	case err == nil:
		c.ok.Add(1)
		if n <= w.last[i] {
			w.t.Errorf("INCR gave %d after %d", n, w.last[i])
		}
		w.last[i] = n
	case stressUnknown(ctx, err):
		c.maybe.Add(1)
	}
}

// fails checks that a command that cannot succeed failed for its own reason, or for want of a connection or of time.
func (w *stressWorker) fails(err error, text string) {
	switch {
	case err == nil && text == "WRONGTYPE" && w.seq == 0: // no such key yet, and now it is a list
		w.forget()
	case err == nil:
		w.t.Errorf("no error, want %q", text)
	case strings.Contains(err.Error(), text):
	case isoUncertain(err), isoNetError(err), errors.Is(err, context.Canceled), errors.Is(err, autopipe.ErrQueueFull),
		errors.Is(err, redis.ErrPoolTimeout):
		if text == "WRONGTYPE" {
			w.forget()
		}
	default:
		w.t.Errorf("error %v, want %q", err, text)
	}
}

// watch writes the worker's key in a transaction, which nobody disturbs.
func (w *stressWorker) watch(ctx context.Context) {
	w.write(ctx, func(v string) error {
		return w.rdb.Watch(ctx, func(tx *redis.Tx) error {
			if err := tx.Get(ctx, w.key()).Err(); err != nil && err != redis.Nil {
				return err
			}
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, w.key(), v, time.Minute).Err() })
			return err
		}, w.key())
	})
}
