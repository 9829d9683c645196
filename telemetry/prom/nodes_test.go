package prom_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
)

// TestNodes: the metrics of traffic and of the queue tell the nodes of an attached client apart, and a node that the
// client has given up disappears from them.
func TestNodes(t *testing.T) {
	a, b := redistest.Run(t), redistest.Run(t)
	rdb := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": a.Addr(), "b": b.Addr()}})
	defer func() { _ = rdb.Close() }()
	reg := prometheus.NewRegistry()
	autopipe.Attach(rdb, autopipe.WithObserver(prom.New(reg)))
	load := func() {
		for i := range 100 {
			if err := rdb.Set(context.Background(), fmt.Sprint("key", i), i, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	load()

	nodes := func(m *meter.Metric) map[string]bool {
		found := map[string]bool{}
		for _, p := range gather(t, reg)[m.Prometheus].GetMetric() {
			for _, l := range p.GetLabel() {
				if l.GetName() == meter.LabelNode {
					found[l.GetValue()] = true
				}
			}
		}
		return found
	}
	all := []*meter.Metric{meter.Commands, meter.BatchDuration, meter.QueueDepth, meter.BatchesInFlight}
	for _, m := range all {
		if n := nodes(m); len(n) != 3 || !n[""] || !n[a.Addr()] || !n[b.Addr()] {
			t.Errorf("%s: nodes %v, want both and none", m.Prometheus, n)
		}
	}

	rdb.SetAddrs(map[string]string{"a": a.Addr()})
	load()
	for deadline := time.Now().Add(time.Minute); nodes(meter.Commands)[b.Addr()]; {
		if time.Now().After(deadline) {
			t.Fatal("the series of a node that is gone are still there")
		}
		runtime.GC() // the client of the node has to be collected
		time.Sleep(10 * time.Millisecond)
	}
	for _, m := range all {
		if n := nodes(m); len(n) != 2 || !n[a.Addr()] {
			t.Errorf("%s: nodes %v after the other was removed, want %s", m.Prometheus, n, a.Addr())
		}
	}
}
