package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/bench/scale"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
)

// held is what the process holds, collected.
type held struct {
	bytes      int64
	goroutines int
}

func holds() held {
	runtime.GC()
	runtime.GC() // the first one only moves what pools hold to their victim caches
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return held{int64(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()}
}

// idle measures what each of so many nodes takes at rest.
func idle(ctx context.Context, addr string, nodes int) (scale.Idle, error) {
	r := scale.Idle{Nodes: nodes}
	n := float64(nodes)
	measure := func(prepare func(*cluster) error, change ...func(*redis.ClusterOptions)) (bytes, goroutines float64, err error) {
		var seen [3]held
		var by, gr []float64
		for range seen {
			before := holds()
			c := newCluster(nodes, addr, change...)
			err = prepare(c)
			after := holds()
			runtime.KeepAlive(c)
			c.Close()
			if err != nil {
				return 0, 0, fmt.Errorf("%d nodes: %w", nodes, err)
			}
			by = append(by, float64(after.bytes-before.bytes)/n)
			gr = append(gr, float64(after.goroutines-before.goroutines)/n)
		}
		return median(by), median(gr), nil
	}
	visit := func(c *cluster) error { return c.visit(ctx) }
	attached := func(opts ...autopipe.Option) func(*cluster) error {
		return func(c *cluster) error {
			autopipe.Attach(c.ClusterClient, opts...)
			return c.visit(ctx)
		}
	}
	var err error
	if r.Plain, r.PlainRoutines, err = measure(visit); err != nil {
		return r, err
	}
	if r.Attached, r.AttachedRoutines, err = measure(attached()); err != nil {
		return r, err
	}
	two, _, err := measure(func(c *cluster) error { return c.hold(ctx, 2) })
	if err != nil {
		return r, err
	}
	r.RegularConn = two - r.Plain
	piped, _, err := measure(func(c *cluster) error {
		if err := c.visit(ctx); err != nil {
			return err
		}
		return c.pipe(ctx)
	})
	if err != nil {
		return r, err
	}
	r.PipelineConn = piped - r.Plain
	if nodes < meter.MaxNodes {
		observed, _, err := measure(func(c *cluster) error {
			reg := prometheus.NewRegistry()
			return attached(autopipe.WithObserver(prom.New(reg)))(c)
		})
		if err != nil {
			return r, err
		}
		r.ObservedHeap = observed - r.Attached
	}
	return r, nil
}

// hold opens so many regular connections to each node.
func (c *cluster) hold(ctx context.Context, conns int) error {
	return c.each(func(key string) error {
		node, err := c.MasterForKey(ctx, key)
		if err != nil {
			return err
		}
		open := make([]*redis.Conn, conns)
		for i := range open {
			open[i] = node.Conn()
			if err := open[i].Ping(ctx).Err(); err != nil {
				return err
			}
		}
		for _, conn := range open {
			if err := conn.Close(); err != nil {
				return err
			}
		}
		return nil
	})
}

// pipe sends a pipeline to each node.
func (c *cluster) pipe(ctx context.Context) error {
	return c.each(func(key string) error {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.Exists(ctx, key)
			p.Exists(ctx, key)
			return nil
		})
		return err
	})
}

func (c *cluster) each(do func(key string) error) error {
	for _, key := range c.keys {
		if err := do(key); err != nil {
			return err
		}
	}
	return nil
}

// series counts what a scrape of so many nodes brings.
func series(ctx context.Context, addr string, nodes int) (lines, bytes int, err error) {
	reg := prometheus.NewPedanticRegistry()
	o := prom.New(reg)
	if err := o.Err(); err != nil {
		return 0, 0, err
	}
	c := newCluster(max(nodes, 1), addr)
	defer c.Close()
	ap := autopipe.Attach(c.ClusterClient, autopipe.WithObserver(o))
	if nodes > 0 { // else no node is known yet
		if err := c.visit(ctx); err != nil {
			return 0, 0, err
		}
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}).
		ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	runtime.KeepAlive(ap)
	text := w.Body.String()
	if w.Code != 200 {
		return 0, 0, fmt.Errorf("scrape of %d nodes: %s", nodes, text)
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			lines++
		}
	}
	return lines, len(text), nil
}

func measureSeries(ctx context.Context, addr string) (s scale.Series, err error) {
	const nodes = 100
	if s.Pipe, s.PipeText, err = series(ctx, addr, 0); err != nil {
		return s, err
	}
	lines, bytes, err := series(ctx, addr, nodes)
	if err != nil {
		return s, err
	}
	s.Node, s.NodeText = float64(lines-s.Pipe)/nodes, float64(bytes-s.PipeText)/nodes
	s.AtThousand, s.AtThousandText, err = series(ctx, addr, 1000)
	return s, err
}

func median(v []float64) float64 {
	slices.Sort(v)
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
