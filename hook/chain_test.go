package hook_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// recorder notes in which order, and for which build, go-redis calls the methods of a hook.
type recorder struct {
	mu    sync.Mutex
	calls []string
}

func (r *recorder) note(s string) {
	r.mu.Lock()
	r.calls = append(r.calls, s)
	r.mu.Unlock()
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

func (r *recorder) DialHook(next redis.DialHook) redis.DialHook {
	r.note("dial")
	return next
}

func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	r.note("process")
	return next
}

func (r *recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	r.note("pipeline")
	return next
}

// TestBuildOrder pins the order that Pairer rests on. If it fails after an upgrade of go-redis, read hooksState.rebuild
// there before anything else.
func TestBuildOrder(t *testing.T) {
	ctx := context.Background()
	srv := redistest.Shared(t)
	one := []string{"dial", "process", "pipeline", "pipeline"}
	r := &recorder{}
	rdb := srv.Client(t)
	check := func(what string, builds int) {
		t.Helper()
		var want []string
		for range builds {
			want = append(want, one...)
		}
		if got := r.take(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: go-redis called %v, want %v", what, got, want)
		}
	}
	rdb.AddHook(r)
	check("AddHook", 1)
	rdb.Ping(ctx)
	check("first connection", 1)
	rdb.Ping(ctx)
	check("second command on the same connection", 0)
	conn := rdb.Conn()
	check("Conn", 1)
	_ = conn.Close()
	if err := rdb.Watch(ctx, func(*redis.Tx) error { return nil }, "k"); err != nil {
		t.Fatal(err)
	}
	check("Watch", 1)
	rdb.AddHook(&recorder{})
	check("another hook added", 1)
}

// pairing is a hook that keeps the chains that Pairer made.
type pairing struct {
	hook.Pairer
	mu     sync.Mutex
	chains []*hook.Chain
}

func (p *pairing) DialHook(next redis.DialHook) redis.DialHook {
	p.Begin()
	return next
}

func (p *pairing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	if c := p.Pairer.Process(next); c != nil {
		p.mu.Lock()
		p.chains = append(p.chains, c)
		p.mu.Unlock()
	}
	return next
}

func (p *pairing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	p.Pairer.Pipeline(next)
	return next
}

func (p *pairing) last(t *testing.T) *hook.Chain {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.chains) == 0 {
		t.Fatal("no chain was built")
	}
	return p.chains[len(p.chains)-1]
}

func TestSetupChainsAreKnown(t *testing.T) {
	ctx := context.Background()
	srv := redistest.Shared(t)
	p := &pairing{}
	var added *hook.Chain
	rdb := srv.Client(t, func(o *redis.Options) {
		o.OnConnect = func(_ context.Context, cn *redis.Conn) error {
			cn.AddHook(p) // a chain of the user's, although go-redis is setting a connection up
			added = p.last(t)
			return nil
		}
	})
	rdb.AddHook(p)
	if c := p.last(t); c.Setup || !c.Whole() {
		t.Errorf("AddHook: chain %+v, want a whole one that is not set-up", c)
	}
	rdb.Ping(ctx)
	if added.Setup {
		t.Error("AddHook within OnConnect: taken for set-up")
	}
	if p.chains[1] == added || !p.chains[1].Setup || !p.chains[1].Whole() {
		t.Errorf("new connection: chain %+v, want set-up", p.chains[1])
	}
	conn := rdb.Conn()
	defer func() { _ = conn.Close() }()
	if c := p.last(t); c.Setup || !c.Whole() {
		t.Errorf("Conn: chain %+v, want a whole one that is not set-up", c)
	}
}

// TestPairerInterleaved runs two builds step by step on two goroutines. A pairer that took the last ProcessHook it saw
// for the next pipeline would join A's process with B's pipeline.
func TestPairerInterleaved(t *testing.T) {
	var p hook.Pairer
	process := func(name string) redis.ProcessHook {
		return func(context.Context, redis.Cmder) error { return fmt.Errorf("%s", name) }
	}
	pipeline := func(name string) redis.ProcessPipelineHook {
		return func(context.Context, []redis.Cmder) error { return fmt.Errorf("%s", name) }
	}
	chains := map[string]*hook.Chain{}
	turns := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{})}
	done := make(chan struct{})
	for name, turn := range turns {
		go func() {
			steps := []func(){
				p.Begin,
				func() { chains[name] = p.Process(process(name)) },
				func() { p.Pipeline(pipeline(name)) },
				func() { p.Pipeline(pipeline(name + " tx")) },
			}
			for _, step := range steps {
				<-turn
				step()
				done <- struct{}{}
			}
		}()
	}
	for range 4 {
		for _, name := range []string{"a", "b"} {
			turns[name] <- struct{}{}
			<-done
		}
	}
	for name, c := range chains {
		if c == nil || !c.Whole() {
			t.Fatalf("%s: chain %+v is not whole", name, c)
		}
		got := []string{
			c.Process(context.Background(), nil).Error(),
			c.Pipeline(context.Background(), nil).Error(),
			c.TxPipeline(context.Background(), nil).Error(),
		}
		if want := []string{name, name, name + " tx"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: paired %v, want %v", name, got, want)
		}
	}
	if c := p.Process(process("late")); c != nil {
		t.Error("a call outside a build was paired")
	}
}

// TestPairerAbandoned: a wrapper around our hook may forward only some calls. Its builds must not catch later ones.
func TestPairerAbandoned(t *testing.T) {
	next := func(context.Context, redis.Cmder) error { return nil }
	pipe := func(context.Context, []redis.Cmder) error { return nil }
	var p hook.Pairer
	p.Begin()
	if c := p.Process(next); c == nil {
		t.Fatal("first Process of a build was not paired")
	}
	if c := p.Process(next); c != nil {
		t.Error("a second Process was paired with the abandoned build")
	}
	if c := p.Pipeline(pipe); c != nil {
		t.Error("a pipeline was paired with the abandoned build")
	}
	p.Begin()
	if c := p.Pipeline(pipe); c != nil {
		t.Error("a pipeline without Process was paired")
	}
	if c := p.Process(next); c != nil {
		t.Error("Process after a pipeline was paired")
	}
}

// TestPairingUnderLoad makes Conns while other Conns and new pool connections are made, and asks both functions of each
// Conn's chain for the id of their connection: a mispaired chain answers with two different ones. A pairer that takes
// the last ProcessHook for the next pipeline fails here on most runs.
func TestPairingUnderLoad(t *testing.T) {
	ctx := context.Background()
	rdb := redistest.Shared(t).Client(t, func(o *redis.Options) {
		o.PoolSize = 100
		o.ConnMaxLifetime = 1 // every use of the pool makes a new connection
	})
	rdb.AddHook(&asker{})
	stop := make(chan struct{})
	var noise, wg sync.WaitGroup
	for i := range 4 {
		noise.Add(1)
		go func() {
			defer noise.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if i%2 == 0 {
					_ = rdb.Conn().Close()
				} else {
					rdb.Ping(ctx)
				}
			}
		}()
	}
	var checked, wrong atomic.Int64
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				c := rdb.Conn()
				ids, err := c.Do(ctx, "echo", "ids").Slice()
				if err != nil {
					t.Errorf("asking: %v", err)
				} else {
					checked.Add(1)
					if ids[0] != ids[1] {
						wrong.Add(1)
					}
				}
				_ = c.Close()
			}
		}()
	}
	wg.Wait()
	close(stop)
	noise.Wait()
	if checked.Load() != 800 || wrong.Load() != 0 {
		t.Errorf("%d chains checked, %d of them mispaired", checked.Load(), wrong.Load())
	}
}

// asker answers ECHO with the connection ids that the two functions of its chain see.
type asker struct{ hook.Pairer }

func (a *asker) DialHook(next redis.DialHook) redis.DialHook {
	a.Begin()
	return next
}

func (a *asker) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	chain := a.Pairer.Process(next)
	return func(ctx context.Context, cmd redis.Cmder) error {
		echo, ok := cmd.(*redis.Cmd)
		if chain == nil || !ok || cmd.Name() != "echo" {
			return next(ctx, cmd)
		}
		one := redis.NewIntCmd(ctx, "client", "id")
		if err := chain.Process(ctx, one); err != nil {
			return err
		}
		two := redis.NewIntCmd(ctx, "client", "id")
		if err := chain.Pipeline(ctx, []redis.Cmder{two}); err != nil {
			return err
		}
		// Pipeline reads into the command itself; Process leaves the error to its caller.
		echo.SetVal([]any{one.Val(), two.Val()})
		return nil
	}
}

func (a *asker) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	a.Pairer.Pipeline(next)
	return next
}
