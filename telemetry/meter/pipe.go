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

// MaxNodes bounds how many nodes of one pipe are told apart; later ones are counted together as Other. The series of a
// node disappear at the first reading after its client has been closed and collected.
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
	before := p.nodes.Load()
	p.mu.Lock()
	hooks := p.alive()
	p.mu.Unlock()
	nodes, told := gauges(hooks)
	st.Nodes = nodes
	if before != nil {
		nodes := *before
		if told {
			nodes = p.forget(nodes, st.Nodes)
		}
		for _, node := range slices.Sorted(maps.Keys(nodes)) {
			st.Series = append(st.Series, nodes[node])
		}
	}
	var sources []*PoolSource
	for _, a := range hooks {
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

// gauges sums what the hooks say, by node. The lanes of no single node come first. told is false if a hook says nothing.
func gauges(hooks []*attachment) (list []telemetry.NodeGauges, told bool) {
	rest := telemetry.NodeGauges{}
	by := map[string]telemetry.NodeGauges{}
	for _, a := range hooks {
		if a.config.Gauges == nil {
			return []telemetry.NodeGauges{{}}, false
		}
		g := a.config.Gauges()
		rest.Queued += g.Queued
		rest.InFlight += g.InFlight
		for _, n := range g.Nodes {
			sum := by[n.Node]
			by[n.Node] = telemetry.NodeGauges{Node: n.Node, Queued: sum.Queued + n.Queued, InFlight: sum.InFlight + n.InFlight}
			rest.Queued -= n.Queued
			rest.InFlight -= n.InFlight
		}
	}
	list = append(list, rest)
	for _, node := range slices.Sorted(maps.Keys(by)) {
		list = append(list, by[node])
	}
	return list, true
}

// forget drops the series of nodes that were there before and that no hook knows any more, and returns those that
// remain. before was read before the hooks were asked: a node that has just come is not in it.
func (p *pipe) forget(before map[string]*Series, known []telemetry.NodeGauges) map[string]*Series {
	p.mu.Lock()
	defer p.mu.Unlock()
	nodes := *p.nodes.Load()
	next := maps.Clone(nodes)
	for node := range before {
		if node != Other && !slices.ContainsFunc(known, func(n telemetry.NodeGauges) bool { return n.Node == node }) {
			delete(next, node)
		}
	}
	if len(next) < len(nodes) {
		p.nodes.Store(&next)
	}
	return next
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
