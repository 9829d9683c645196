package meter

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
)

// Options are what a Meter does beyond the catalogue's defaults.
type Options struct {
	Commands bool    // tell commands apart in the metrics with ByCommand
	Sampler  Sampler // keep exemplars; nil for none
}

// Meter counts for any number of hooks. Hooks of the same pipe name share their counts, so a thousand hooks made and
// dropped leave one set of series.
type Meter struct {
	options atomic.Pointer[Options]
	scratch sync.Pool // of *scratch

	mu    sync.Mutex
	pipes []*pipe // by name, in the order of their first hook
}

// New makes a Meter.
func New(o Options) *Meter {
	m := new(Meter)
	m.options.Store(&o)
	m.scratch.New = func() any {
		return &scratch{wait: histogram.NewLocal(histogram.Seconds), duration: histogram.NewLocal(histogram.Seconds)}
	}
	return m
}

// Enable switches on what o asks for, in addition to what is on. Switch commands on before hooks are attached: what was
// counted before is not told apart.
func (m *Meter) Enable(o Options) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := *m.options.Load()
	all.Commands = all.Commands || o.Commands
	if o.Sampler != nil {
		all.Sampler = o.Sampler
	}
	m.options.Store(&all)
	if all.Commands {
		for _, p := range m.pipes {
			p.root.command(Other)
		}
	}
}

// Attach makes the functions that count for one hook. source may be nil.
func (m *Meter) Attach(p telemetry.Pipe, source *PoolSource) telemetry.Events {
	a := &attachment{meter: m, pipe: m.pipe(p.Name), config: p, source: source}
	a.pipe.add(a)
	return telemetry.Events{
		BatchEnd: a.batchEnd,
		Direct:   a.direct,
		Retry:    a.retry,
		Drop:     a.drop,
		Pipeline: a.pipeline,
	}
}

func (m *Meter) pipe(name string) *pipe {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.pipes {
		if p.name == name {
			return p
		}
	}
	p := &pipe{name: name, root: newSeries(name, "")}
	if m.options.Load().Commands {
		p.root.command(Other)
	}
	m.pipes = append(m.pipes, p)
	return p
}

// State is what a Meter knows of one pipe at one moment.
type State struct {
	Pipe   string
	Series []*Series

	// Of the hooks that are still in use.
	Nodes      []telemetry.NodeGauges // by node, the first without a name for all other lanes
	QueueLimit int
	BatchLimit int
	Configs    []telemetry.Pipe     // one of each different set of options; without Gauges
	Pools      [len(PoolNames)]Pool // summed over the pool sources
	HasPool    [len(PoolNames)]bool
}

// Read returns the state of every pipe, for an exporter to read. It reads the gauges, so it may take the lanes' locks.
func (m *Meter) Read() []*State {
	m.mu.Lock()
	pipes := slices.Clone(m.pipes)
	m.mu.Unlock()
	states := make([]*State, len(pipes))
	for i, p := range pipes {
		states[i] = p.read()
	}
	return states
}
