package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestEveryNodeHasItsKeyAndItsLane(t *testing.T) {
	const nodes = 100
	c := newCluster(nodes, redistest.Run(t).Addr())
	defer c.Close()
	ap := autopipe.Attach(c.ClusterClient)
	if err := c.visit(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, key := range c.keys {
		node, err := c.MasterForKey(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		seen[node.Options().Addr] = true
	}
	if len(seen) != nodes || c.PoolStats().TotalConns < nodes {
		t.Errorf("%d nodes have keys, %d connections", len(seen), c.PoolStats().TotalConns)
	}
	if s := ap.Stats(); s.Commands != nodes {
		t.Errorf("the lanes saw %d commands, want %d", s.Commands, nodes)
	}
}

func TestIdleNodesAndSeries(t *testing.T) {
	srv := redistest.Run(t)
	i, err := idle(t.Context(), srv.Addr(), 50)
	if err != nil {
		t.Fatal(err)
	}
	// go-redis documents 32 KiB each to read and to write, and 128 KiB on a connection for pipelines. The heap of the test
	// itself moves a little.
	if i.RegularConn < 60e3 || i.RegularConn > 90e3 || i.PipelineConn < 250e3 || i.PipelineConn > 320e3 {
		t.Errorf("%+v", i)
	}
	s, err := measureSeries(t.Context(), srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if s.Node < 50 || s.AtThousand >= s.Pipe+300*int(s.Node) {
		t.Errorf("%+v: the series of 1,000 nodes are not bounded", s)
	}
}

// TestSource: the commands come at the rate asked for, each once, and an error is told.
func TestSource(t *testing.T) {
	srv := redistest.Run(t)
	s := source{rate: 2000, callers: 32, time: 500 * time.Millisecond, nodes: 3}
	r, _, err := reading(t.Context(), srv.Addr(), 3, s, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	if r.Rate < 1200 || r.Rate > 2600 || r.Depth < 1 || r.Latency <= 0 {
		t.Errorf("%+v", r)
	}
	wrong := errors.New("wrong")
	s.do = func(_ context.Context, node int) error {
		if node == 2 {
			return wrong
		}
		return nil
	}
	if out := s.run(t.Context()); out.err != wrong || out.commands < 700 {
		t.Errorf("%d commands, %v", out.commands, out.err)
	}
}
