package autopipe_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
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
	total, err := time.ParseDuration(cmp.Or(os.Getenv("AUTOPIPE_STRESS"), "2s"))
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

const (
	stressWorkers  = 200
	stressCounters = 8
)

// stress is one round.
type stress struct {
	t        *testing.T
	rdb      *redis.Client
	proxy    *redistest.Proxy
	name     string // before all keys
	cuts     atomic.Int64
	ops      atomic.Int64
	returned atomic.Int64 // by autopipe: all commands but the set-up of connections, and panics

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
	if rnd.IntN(2) == 0 {
		opts = append(opts, autopipe.WithMergePipelines())
	}
	if rnd.IntN(2) == 0 {
		opts = append(opts, autopipe.WithBlockOnFull())
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
	s.rdb = srv.Client(t, failFast, func(o *redis.Options) {
		o.Addr = proxy.Addr()
		o.PoolSize, o.PoolTimeout = 2+rnd.IntN(10), 300*time.Millisecond
	})
	ap := autopipe.New(opts...)
	s.rdb.AddHook(hookFuncs{process: s.count, pipeline: s.countPipeline})
	s.rdb.AddHook(ap)

	stop := make(chan struct{})
	var chaos, workers sync.WaitGroup
	chaos.Go(func() { s.chaos(rnd, stop) })
	for i := range stressWorkers {
		w := &stressWorker{stress: s, rnd: rand.New(rand.NewPCG(seed, uint64(i+1))), name: fmt.Sprintf("%s%d:", s.name, i)}
		workers.Go(func() {
			for !isClosed(stop) {
				s.ops.Add(1)
				w.step()
			}
		})
	}
	time.Sleep(d)
	close(stop)
	chaos.Wait()
	workers.Wait()
	atRest(t, ap)
	s.check(srv.Client(t), ap)
	_ = s.rdb.Close()
	_ = proxy.Close()
	until(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= before+10 })
	t.Logf("%d operations, %d cuts; %v", s.ops.Load(), s.cuts.Load(), ap.Stats())
}

// count is a hook's method, before autopipe.
func (s *stress) count(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if n := cmd.Name(); n != "hello" && n != "client" {
			s.returned.Add(1)
		}
		return err
	}
}

func (s *stress) countPipeline(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		name := cmds[0].Name() // what next leaves in the list of a window may already be on its way
		err := next(ctx, cmds)
		switch name {
		case "hello", "client":
		case "multi": // and EXEC
			s.returned.Add(int64(len(cmds)) - 2)
		default:
			s.returned.Add(int64(len(cmds)))
		}
		return err
	}
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
	outcomes := st.PipelinedCommands // these are the pipelines' own
	for _, n := range st.Outcomes {
		outcomes += n
	}
	if issued := s.returned.Load(); outcomes != uint64(issued) {
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
				s.rdb.AddHook(hookFuncs{})
			}
		}
	}
}
