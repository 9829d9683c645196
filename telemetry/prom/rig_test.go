package prom_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
)

// rig is one hook with all exporters of metrics on it.
type rig struct {
	hook     *autopipe.Hook
	reg      *prometheus.Registry
	readers  map[string]*metric.ManualReader
	sendings atomic.Int64 // commands in batches, as the engine's events have them
}

func newRig(opts ...autopipe.Option) *rig {
	r := &rig{reg: prometheus.NewRegistry()}
	producer := otelpipe.NewProducer(otelpipe.WithDBConventions())
	r.readers = map[string]*metric.ManualReader{
		"producer":    metric.NewManualReader(metric.WithProducer(producer)),
		"instruments": metric.NewManualReader(),
	}
	metric.NewMeterProvider(metric.WithReader(r.readers["producer"]))
	mp := metric.NewMeterProvider(metric.WithReader(r.readers["instruments"]))
	r.hook = autopipe.New(append(opts, autopipe.WithObserver(
		prom.New(r.reg, prom.WithNativeHistograms()), producer,
		otelpipe.New(otelpipe.WithMeterProvider(mp), otelpipe.WithDBConventions()), r,
	))...)
	return r
}

func (r *rig) Attach(telemetry.Pipe) telemetry.Events {
	return telemetry.Events{BatchEnd: func(_ context.Context, b *telemetry.Batch) { r.sendings.Add(int64(len(b.Commands))) }}
}

// numbers are what one exporter says: by metric, and by metric and value of its own label. A histogram has its count
// under its name and its sum under its name and "sum".
type numbers map[string]float64

func (r *rig) prometheus(t testing.TB) numbers {
	n := numbers{}
	all := gather(t, r.reg)
	for _, m := range meter.Catalogue {
		for _, p := range all[m.Prometheus].GetMetric() {
			v := p.GetCounter().GetValue() + float64(p.GetHistogram().GetSampleCount())
			n[m.Name] += v
			n[m.Name+" sum"] += p.GetHistogram().GetSampleSum()
			for _, l := range p.GetLabel() {
				if l.GetName() == m.Label {
					n[m.Name+" "+l.GetValue()] += v
				}
			}
		}
	}
	return n
}

func otel(t testing.TB, r *metric.ManualReader) numbers {
	t.Helper()
	var rm metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &rm); err != nil {
		t.Fatal(err)
	}
	n := numbers{}
	labels := map[string]string{}
	for _, m := range meter.Catalogue {
		labels[m.Name] = m.Label
	}
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			add := func(set attribute.Set, v, sum float64) {
				n[m.Name] += v
				n[m.Name+" sum"] += sum
				if l, ok := set.Value(attribute.Key(labels[m.Name])); ok {
					n[m.Name+" "+l.AsString()] += v
				}
			}
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, float64(p.Value), 0)
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, float64(p.Count), p.Sum)
				}
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, float64(p.Count), float64(p.Sum))
				}
			}
		}
	}
	return n
}

// settle waits until nothing is in flight any more: a batch that its callers have left reports later than they return.
func (r *rig) settle(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if s := r.hook.Stats(); s.InFlight == 0 && s.Queued == 0 {
			return
		}
	}
	t.Fatalf("the hook does not come to rest: %v", r.hook.Stats())
}

// check compares every exporter with the books and with Stats.
func (r *rig) check(t *testing.T, b *books) {
	t.Helper()
	r.settle(t)
	all := map[string]numbers{"prometheus": r.prometheus(t)}
	for name, reader := range r.readers {
		all[name] = otel(t, reader)
	}
	stats := r.hook.Stats()
	for name, n := range all {
		is := func(what string, want float64) {
			t.Helper()
			if n[what] != want {
				t.Errorf("%s: %s is %g, want %g", name, what, n[what], want)
			}
		}
		is("autopipe.commands", float64(b.commands.Load()))
		for o := range telemetry.NumOutcomes {
			is("autopipe.commands "+telemetry.Outcome(o).String(), float64(b.outcomes[o].Load()))
		}
		is("autopipe.pipelines", float64(b.pipelines.Load()))
		is("autopipe.pipelined.commands", float64(b.pipelined.Load()))
		is("autopipe.batch.size sum", float64(r.sendings.Load()))
		is("autopipe.batch.size sum", float64(stats.Commands))
		is("autopipe.queue.wait.duration", float64(r.sendings.Load()))
		is("autopipe.command.duration", n["autopipe.commands"]-n["autopipe.direct"]-n["autopipe.commands rejected"])
		if name != "prometheus" {
			is("db.client.operation.duration", n["autopipe.commands"])
		}
		for _, h := range []string{"autopipe.batch.size", "autopipe.batch.bytes", "autopipe.batch.duration"} {
			is(h, n["autopipe.flushes"])
		}
		is("autopipe.flushes", float64(stats.Batches))
		is("autopipe.batch.bytes sum", float64(stats.Bytes))
		for reason, count := range stats.Flushes {
			is("autopipe.flushes "+reason, float64(count))
		}
		for reason, count := range stats.Direct {
			is("autopipe.direct "+reason, float64(count))
		}
		for cause, count := range stats.Retries {
			is("autopipe.retries "+cause, float64(count))
		}
		if d := n["autopipe.direct"]; d < float64(b.direct.Load()) {
			t.Errorf("%s: %g direct commands, at least %d were sent", name, d, b.direct.Load())
		}
	}
}
