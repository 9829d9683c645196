package scale

import (
	"runtime"
	"sync"
	"time"
)

// Forecast is what a client process pays for one cluster at one rate, with autopipe (Attach) and without.
type Forecast struct {
	Config       Config
	With, Plain  *Result
	Bytes, Basic float64 // memory with autopipe and without
}

// Scenario is c with the costs of m and enough commands to reach the steady state.
func (m *Measured) Scenario(c Config) Config {
	c.Costs = m.Costs()
	if c.Commands == 0 {
		const trips, most = 20, 250_000
		c.Commands = int(min(max(50_000, trips*c.Rate*c.RTT.Seconds()), most))
	}
	return c.normal()
}

// Forecasts runs the scenarios on all processors of this machine; the results do not depend on how many it has.
func (m *Measured) Forecasts(list []Config) []*Forecast {
	out := make([]*Forecast, len(list))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, c := range list {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			c = m.Scenario(c)
			plain := c
			plain.Plain, plain.Linger = true, 0
			f := &Forecast{Config: c, With: Run(c), Plain: Run(plain)}
			f.Bytes = m.Memory(c.Nodes, f.With.MainConns, f.With.PipelineConns, true)
			f.Basic = m.Memory(c.Nodes, f.Plain.MainConns, 0, false)
			out[i] = f
		})
	}
	all.Wait()
	return out
}

// Memory of so many nodes with so many connections, in bytes of heap.
func (m *Measured) Memory(nodes, regular, pipeline int, attached bool) float64 {
	i := m.idle()
	node := i.Plain
	if attached {
		node = i.Attached
	}
	more := max(0, regular-nodes) // a node's own bytes contain its first connection
	return float64(nodes)*node + float64(more)*i.RegularConn + float64(pipeline)*i.PipelineConn
}

// idle is the reading of the most nodes, which has the least noise.
func (m *Measured) idle() (most Idle) {
	for _, i := range m.Idle {
		if i.Nodes > most.Nodes {
			most = i
		}
	}
	return most
}

// Cores that the client needs for c's commands at a CPU time for each.
func Cores(c Config, each time.Duration) float64 { return c.Rate * each.Seconds() }
