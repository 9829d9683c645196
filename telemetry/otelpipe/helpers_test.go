package otelpipe_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
)

// batch makes a batch of n commands as the engine would at BatchEnd.
func batch(n int, names ...string) *telemetry.Batch {
	b := &telemetry.Batch{Pipe: "p", Reason: telemetry.FlushDrain, Size: n, Bytes: 50 * n, Cut: time.Now(), RoundTrip: 200 * time.Microsecond}
	for i := range n {
		name := "get"
		if len(names) > 0 {
			name = names[i%len(names)]
		}
		wait := time.Duration(n-i) * time.Microsecond
		b.Commands = append(b.Commands, telemetry.Command{
			Name: name, Context: context.Background(), Wait: wait, Attempt: 1, Start: b.Cut.Add(-wait), Outcome: telemetry.OutcomeOK,
		})
	}
	return b
}

func attach(o telemetry.Observer, name string) telemetry.Events {
	return o.Attach(telemetry.Pipe{Name: name, MaxBatch: 512, MaxQueue: 65536, Retry: "safe",
		Gauges: func() telemetry.Gauges {
			g := telemetry.Gauges{Queued: 2, InFlight: 1}
			for i := range 3 {
				g.Nodes = append(g.Nodes, telemetry.NodeGauges{Node: fmt.Sprintf("127.0.0.1:%d", 7000+i)})
			}
			return g
		}})
}

func pool() *redis.PoolStats {
	return &redis.PoolStats{Hits: 5, Misses: 2, TotalConns: 3, IdleConns: 1}
}

// collected are the metrics of a reader, by name.
type collected map[string]metricdata.Metrics

func collect(t testing.TB, r *metric.ManualReader) collected {
	t.Helper()
	var rm metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &rm); err != nil {
		t.Fatal(err)
	}
	all := collected{}
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			if _, twice := all[m.Name]; twice {
				t.Errorf("%s comes twice", m.Name)
			}
			all[m.Name] = m
		}
	}
	return all
}

// point is what a data point says, whatever its type: the value, or a histogram's count and sum.
type point struct {
	attrs attribute.Set
	n     float64
	sum   float64
}

func (c collected) points(name string) (list []point) {
	switch d := c[name].Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			list = append(list, point{p.Attributes, float64(p.Value), 0})
		}
	case metricdata.Sum[float64]:
		for _, p := range d.DataPoints {
			list = append(list, point{p.Attributes, p.Value, 0})
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			list = append(list, point{p.Attributes, p.Value, 0})
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			list = append(list, point{p.Attributes, float64(p.Count), p.Sum})
		}
	case metricdata.Histogram[int64]:
		for _, p := range d.DataPoints {
			list = append(list, point{p.Attributes, float64(p.Count), float64(p.Sum)})
		}
	}
	return list
}

// sum adds up the points that have all of the attributes (k, v ...).
func (c collected) sum(name string, attrs ...string) (n float64) {
next:
	for _, p := range c.points(name) {
		for i := 0; i < len(attrs); i += 2 {
			if v, _ := p.attrs.Value(attribute.Key(attrs[i])); v.AsString() != attrs[i+1] {
				continue next
			}
		}
		n += p.n
	}
	return n
}

// way is one of the two ways in which metrics leave.
type way struct {
	name  string
	start func(opts ...otelpipe.Option) (telemetry.Observer, *metric.ManualReader)
}

var ways = []way{
	{"producer", func(opts ...otelpipe.Option) (telemetry.Observer, *metric.ManualReader) {
		p := otelpipe.NewProducer(opts...)
		r := metric.NewManualReader(metric.WithProducer(p))
		metric.NewMeterProvider(metric.WithReader(r)) // a reader collects only once it has one
		return p, r
	}},
	{"instruments", func(opts ...otelpipe.Option) (telemetry.Observer, *metric.ManualReader) {
		r := metric.NewManualReader()
		mp := metric.NewMeterProvider(metric.WithReader(r))
		return otelpipe.New(append(opts, otelpipe.WithMeterProvider(mp))...), r
	}},
}
