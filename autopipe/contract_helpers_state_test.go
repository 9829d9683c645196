package autopipe_test

import (
	"context"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

var stCtx = context.Background()

// stRecorder is a hook to be added after (or before) autopipe: it keeps the name of every command it sees, apart
// whether it came alone or in a pipeline.
type stRecorder struct {
	mu     sync.Mutex
	alone  map[string]int
	piped  map[string]int // in pipelines, by the commands' names
	shared map[string]int // the same, pipelines of one left out
	names  [][]string     // each pipeline
	answer map[string]bool
}

// stRecord makes a recorder. Commands named in answer are not sent on: they succeed at once, so that a test can try
// SHUTDOWN or MONITOR and leave the server and its connections in peace.
func stRecord(answer ...string) *stRecorder {
	r := &stRecorder{alone: map[string]int{}, piped: map[string]int{}, shared: map[string]int{}, answer: map[string]bool{}}
	for _, a := range answer {
		r.answer[a] = true
	}
	return r
}

func (r *stRecorder) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *stRecorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.mu.Lock()
		r.alone[cmd.Name()]++
		answered := r.answer[cmd.Name()]
		r.mu.Unlock()
		if answered {
			return nil
		}
		return next(ctx, cmd)
	}
}

func (r *stRecorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		names := make([]string, len(cmds))
		r.mu.Lock()
		for i, cmd := range cmds {
			names[i] = cmd.Name()
			r.piped[names[i]]++
			if len(cmds) > 1 {
				r.shared[names[i]]++
			}
		}
		r.names = append(r.names, names)
		r.mu.Unlock()
		return next(ctx, cmds)
	}
}

// counts is how often a command went alone and in pipelines.
func (r *stRecorder) counts(name string) (alone, piped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.alone[name], r.piped[name]
}

// pipelines is a copy of all pipelines seen.
func (r *stRecorder) pipelines() [][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.names)
}

// stNew makes a client of srv with a fresh autopipe hook and the given hooks behind it.
func stNew(t *testing.T, srv *redistest.Server, opt func(*redis.Options), behind ...redis.Hook) (*redis.Client, *autopipe.Hook) {
	t.Helper()
	if opt == nil {
		opt = func(*redis.Options) {}
	}
	rdb, ap := srv.Client(t, opt), autopipe.New()
	rdb.AddHook(ap)
	for _, h := range behind {
		rdb.AddHook(h)
	}
	return rdb, ap
}

// stMany runs f on n goroutines and waits for all. f must not use t.Fatal.
func stMany(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// stCompany keeps n goroutines busy with f until the returned function is called, which waits for them.
func stCompany(n int, f func(i int)) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					f(i)
				}
			}
		})
	}
	return sync.OnceFunc(func() { close(done); wg.Wait() })
}

// stUntil waits for a condition that has no event of its own.
func stUntil(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// stShared fails the test if its load was not batched, for then it has proved nothing.
func stShared(t *testing.T, ap *autopipe.Hook) {
	t.Helper()
	if s := ap.Stats(); s.MeanBatch() <= 1.05 {
		t.Fatalf("the load was not batched: %v", s)
	}
}

// stAtRest waits until nothing is queued, nothing is in flight and no goroutine runs code of the engine. What go-redis
// itself keeps running is not counted.
func stAtRest(t *testing.T, ap *autopipe.Hook) {
	t.Helper()
	stUntil(t, "the hook is at rest", func() bool {
		s := ap.Stats()
		return s.Queued == 0 && s.InFlight == 0 && stEngine() == 0
	})
}

// stEngine counts the goroutines with a function of the engine (not of these tests) on their stack.
func stEngine() int {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	count := 0
	for g := range strings.SplitSeq(string(buf), "\n\n") {
		if strings.Contains(g, "/redis-autopipe/autopipe.(*") || strings.Contains(g, "/redis-autopipe/hook.") {
			count++
		}
	}
	return count
}

// stDo runs one command on the server, around go-redis.
func stDo(t *testing.T, srv *redistest.Server, args ...string) any {
	t.Helper()
	v, err := srv.Do(args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

// stInfo is one field of INFO.
func stInfo(t *testing.T, srv *redistest.Server, section, field string) string {
	t.Helper()
	m, err := srv.Info(section)
	if err != nil {
		t.Fatal(err)
	}
	return m[field]
}

// stCalls is how often the server ran a command.
func stCalls(t *testing.T, srv *redistest.Server, name string) int64 {
	t.Helper()
	n, err := srv.CommandCalls(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stHooks is a hook made of functions; nil ones pass through.
type stHooks struct {
	process  func(next redis.ProcessHook) redis.ProcessHook
	pipeline func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook
}

func (stHooks) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h stHooks) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	if h.process == nil {
		return next
	}
	return h.process(next)
}

func (h stHooks) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	if h.pipeline == nil {
		return next
	}
	return h.pipeline(next)
}
