package hook

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Chain holds what lies behind our hook for ONE client: its functions belong together and may not be mixed
// with those of another chain, which would send a command on a connection or to a database that is not its own.
type Chain struct {
	Process    redis.ProcessHook
	Pipeline   redis.ProcessPipelineHook
	TxPipeline redis.ProcessPipelineHook

	// Setup says that go-redis built the chain to initialise a connection (HELLO, AUTH, SELECT ...). What
	// passes through it is not the user's traffic, and it runs inside another command's own next: holding it
	// back for a batch would hang that command.
	Setup bool

	// Owner is whatever the hook keeps for this chain.
	Owner any
}

// Whole reports whether all functions of the chain are known.
func (c *Chain) Whole() bool {
	return c.Process != nil && c.Pipeline != nil && c.TxPipeline != nil
}

// Pairer finds out which of the functions that go-redis passes to a hook belong together.
//
// go-redis gives a hook no client, only its "next" functions, one at a time. But whenever it builds a hook
// chain (hooksState.rebuild in its redis.go: at AddHook, Conn, Watch, and for every new pool connection) it
// calls DialHook, ProcessHook, ProcessPipelineHook and ProcessPipelineHook again for transactions, in this
// order and on one goroutine. So DialHook opens a build for its goroutine and the second pipeline call closes
// it. Builds of several goroutines overlap; a call without an open build, as withProcessHook makes it for a
// single command, is unpaired.
//
// TestBuildOrder fails when an upgrade of go-redis changes this.
type Pairer struct {
	open   atomic.Int64 // len(builds), so that an unpaired call need not ask for its goroutine
	mu     sync.Mutex
	builds map[uint64]*build // by goroutine
}

type build struct {
	chain  *Chain
	opened time.Time
}

// A build takes microseconds. One that stays open was abandoned: a wrapper around our hook forwarded only
// some of the calls. When more than maxOpen are open, those older than buildTime are forgotten.
const (
	maxOpen   = 64
	buildTime = 10 * time.Second
)

// Begin opens a build for the running goroutine. DialHook calls it.
func (p *Pairer) Begin() {
	id := goid()
	if id == 0 {
		return
	}
	b := &build{chain: &Chain{Setup: inSetup()}, opened: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.builds == nil {
		p.builds = make(map[uint64]*build)
	}
	if len(p.builds) >= maxOpen {
		for id, old := range p.builds {
			if b.opened.Sub(old.opened) > buildTime {
				delete(p.builds, id)
			}
		}
	}
	p.builds[id] = b
	p.open.Store(int64(len(p.builds)))
}

// Process adds next to the running goroutine's build and returns its chain, which is not whole yet: the
// pipeline calls that follow complete it. It returns nil if there is no build or it is past this step.
func (p *Pairer) Process(next redis.ProcessHook) *Chain {
	return p.step(func(c *Chain) (ok, last bool) {
		if c.Process != nil {
			return false, true
		}
		c.Process = next
		return true, false
	})
}

// Pipeline adds next to the running goroutine's build, first as Pipeline, then as TxPipeline, which closes the
// build. It returns nil if there is no build or it has no Process yet.
func (p *Pairer) Pipeline(next redis.ProcessPipelineHook) *Chain {
	return p.step(func(c *Chain) (ok, last bool) {
		switch {
		case c.Process == nil:
			return false, true
		case c.Pipeline == nil:
			c.Pipeline = next
			return true, false
		default:
			c.TxPipeline = next
			return true, true
		}
	})
}

func (p *Pairer) step(add func(*Chain) (ok, last bool)) *Chain {
	if p.open.Load() == 0 {
		return nil
	}
	id := goid()
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.builds[id]
	if b == nil {
		return nil
	}
	ok, last := add(b.chain)
	if last {
		delete(p.builds, id)
		p.open.Store(int64(len(p.builds)))
	}
	if !ok {
		return nil
	}
	return b.chain
}

// inSetup reports whether go-redis is building this chain for the Conn with which it initialises or
// re-authenticates a connection. Nothing in the call's arguments tells such a Conn from one that the user asked
// for, so the stack has to: Begin <- DialHook <- rebuild <- initHooks <- newConn <- initConn. Taken once per new
// connection, about 2 us.
func inSetup() bool {
	var pcs [12]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		switch {
		case strings.HasSuffix(f.Function, ".(*baseClient).initConn"),
			strings.Contains(f.Function, ".(*baseClient).reAuthConnection"):
			return true
		case strings.HasSuffix(f.Function, ".AddHook"):
			return false // a user's OnConnect adds a hook to the Conn it is given
		}
		if !more {
			return false
		}
	}
}
