package meter

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// pipe is what the hooks of one name share.
type pipe struct {
	name  string
	root  *Series                            // without a node
	nodes atomic.Pointer[map[string]*Series] // by node; replaced, never changed

	mu    sync.Mutex
	hooks []weak.Pointer[attachment]
	prune int // length of hooks at which to look for those that are gone
}

// attachment is one hook's tie to the Meter. The hook holds it, through the functions that Attach returned. The Meter
// holds it weakly only: it leads to the hook's lanes and client, which nobody tells us to let go of.
type attachment struct {
	meter  *Meter
	pipe   *pipe
	config telemetry.Pipe
	source *PoolSource
}

func (p *pipe) add(a *attachment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.hooks) >= p.prune {
		p.alive()
	}
	p.hooks = append(p.hooks, weak.Make(a))
}

// alive returns the hooks that are still in use and forgets the others. mu is held.
func (p *pipe) alive() []*attachment {
	var list []*attachment
	p.hooks = slices.DeleteFunc(p.hooks, func(w weak.Pointer[attachment]) bool {
		a := w.Value()
		if a != nil {
			list = append(list, a)
		}
		return a == nil
	})
	p.prune = max(16, 2*len(p.hooks))
	return list
}

// MaxNodes bounds how many nodes of one pipe are told apart; later ones are counted together as Other. Nodes come and go
// in a cluster whose addresses change, and a counter cannot be taken back.
const MaxNodes = 256

// series returns the counts of a node, made at its first use.
func (p *pipe) series(node string) *Series {
	if node == "" {
		return p.root
	}
	nodes := p.nodes.Load()
	if nodes != nil {
		if s := (*nodes)[node]; s != nil {
			return s
		}
		if len(*nodes) >= MaxNodes && node != Other {
			return p.series(Other)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	next := map[string]*Series{}
	if nodes = p.nodes.Load(); nodes != nil {
		if s := (*nodes)[node]; s != nil {
			return s
		}
		maps.Copy(next, *nodes)
	}
	s := newSeries(p.name, node)
	next[node] = s
	p.nodes.Store(&next)
	return s
}

func (p *pipe) read() *State {
	st := &State{Pipe: p.name, Series: []*Series{p.root}}
	if nodes := p.nodes.Load(); nodes != nil {
		for _, node := range slices.Sorted(maps.Keys(*nodes)) {
			st.Series = append(st.Series, (*nodes)[node])
		}
	}
	p.mu.Lock()
	hooks := p.alive()
	p.mu.Unlock()
	var sources []*PoolSource
	for _, a := range hooks {
		if a.config.Gauges != nil {
			g := a.config.Gauges()
			st.Gauges.Queued += g.Queued
			st.Gauges.InFlight += g.InFlight
		}
		st.QueueLimit += a.config.MaxQueue
		st.BatchLimit = max(st.BatchLimit, a.config.MaxBatch)
		st.addConfig(a.config)
		if a.source != nil && !slices.Contains(sources, a.source) {
			sources = append(sources, a.source)
			st.addPool(a.source)
		}
	}
	return st
}

func (s *State) addConfig(c telemetry.Pipe) {
	c.Gauges = nil
	for _, have := range s.Configs {
		if have.MaxBatch == c.MaxBatch && have.MaxBatchBytes == c.MaxBatchBytes && have.MaxInFlight == c.MaxInFlight &&
			have.MaxQueue == c.MaxQueue && have.MaxRetries == c.MaxRetries && have.Linger == c.Linger && have.Retry == c.Retry {
			return
		}
	}
	s.Configs = append(s.Configs, c)
}

func (s *State) addPool(source *PoolSource) {
	now := source.Read()
	if now == nil {
		return
	}
	s.HasPool[0] = true
	addPool(&s.Pools[0], now)
	if now.PipelineStats != nil {
		s.HasPool[1] = true
		addPool(&s.Pools[1], (*Pool)(now.PipelineStats))
	}
}
