package autopipe_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
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

// gated is a client with a hook of one place in flight, that place being held by a first command at the gate.
func gated(t *testing.T, opts ...autopipe.Option) (rdb *redis.Client, ap *autopipe.Hook, g *gate, open func()) {
	t.Helper()
	rdb, ap = hooked(t, append([]autopipe.Option{autopipe.WithMaxInFlight(1)}, opts...)...)
	g = newGate()
	rdb.AddHook(g)
	rdb.Ping(bg) // connect
	<-g.arrived
	g.shut()
	var wg sync.WaitGroup
	wg.Go(func() { rdb.Get(bg, "gate") })
	<-g.arrived
	open = sync.OnceFunc(func() { g.release(); wg.Wait() })
	t.Cleanup(open)
	return rdb, ap, g, open
}

// recorder is a hook to be added after (or before) autopipe: it keeps the name of every command it sees, apart
// whether it came alone or in a pipeline.
type recorder struct {
	mu     sync.Mutex
	alone  map[string]int
	piped  map[string]int // in pipelines, by the commands' names
	shared map[string]int // the same, pipelines of one left out
	names  [][]string     // each pipeline
	answer map[string]bool
}

// newRecorder makes a recorder. Commands named in answer are not sent on: they succeed at once, so that a test can try
// SHUTDOWN or MONITOR and leave the server and its connections in peace.
func newRecorder(answer ...string) *recorder {
	r := &recorder{alone: map[string]int{}, piped: map[string]int{}, shared: map[string]int{}, answer: map[string]bool{}}
	for _, a := range answer {
		r.answer[a] = true
	}
	return r
}

func (r *recorder) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
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

func (r *recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
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
func (r *recorder) counts(name string) (alone, piped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.alone[name], r.piped[name]
}

// pipelines is a copy of all pipelines seen.
func (r *recorder) pipelines() [][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.names)
}

// hookFuncs is a hook made of functions; nil ones pass through.
type hookFuncs struct {
	process  func(next redis.ProcessHook) redis.ProcessHook
	pipeline func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook
}

func (hookFuncs) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h hookFuncs) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	if h.process == nil {
		return next
	}
	return h.process(next)
}

func (h hookFuncs) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	if h.pipeline == nil {
		return next
	}
	return h.pipeline(next)
}
