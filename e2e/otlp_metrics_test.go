package e2e

import (
	"context"
	"slices"
	"testing"

	"github.com/prometheus/otlptranslator"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
)

const service = attribute.Key("service.name")

// One client reports both ways at once, by a Producer over gRPC and by instruments over HTTP, to a real receiver. Both
// must tell what the callers have seen, under the names that the Prometheus path has.
func TestMetricsReachACollector(t *testing.T) {
	ctx := context.Background()
	c := startCollector(t)
	byGRPC, err := otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpoint(c.grpc), otlpmetricgrpc.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	byHTTP, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpoint(c.http), otlpmetrichttp.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	rdb := redistest.Run(t).Client(t, func(o *redis.Options) { o.ContextTimeoutEnabled = true })
	opts := []otelpipe.Option{otelpipe.WithDBConventions(), otelpipe.WithPoolStats(rdb.PoolStats)}
	producer := otelpipe.NewProducer(opts...)
	providers := map[string]*metric.MeterProvider{
		"producer":    metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(byGRPC, metric.WithProducer(producer))), named("producer")),
		"instruments": metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(byHTTP)), named("instruments")),
	}
	instruments := otelpipe.New(append(opts, otelpipe.WithMeterProvider(providers["instruments"]))...)
	h := autopipe.New(autopipe.WithObserver(producer, instruments), autopipe.WithName("e2e"))
	rdb.AddHook(h)

	w := &workload{rdb: rdb, cancel: true}
	w.run(t)
	rest(t, h)
	for name, p := range providers {
		if err := p.ForceFlush(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		n := received(t, c.metrics.AllMetrics(), name)
		check(t, name, n, w.books, h)
		if got := n["db_client_operation_duration_seconds"]; got != float64(w.books.commands) {
			t.Errorf("%s: %g operations by the database conventions, want %d", name, got, w.books.commands)
		}
		var missing []string
		for _, m := range meter.Catalogue {
			if _, ok := n[m.Prometheus]; !ok {
				missing = append(missing, m.Prometheus)
			}
		}
		if len(missing) > 0 || !slices.Contains(keys(w.books.outcomes), "cancelled") {
			t.Errorf("%s: missing %v; outcomes %v", name, missing, w.books.outcomes)
		}
		if err := p.Shutdown(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func named(name string) metric.Option {
	return metric.WithResource(resource.NewSchemaless(service.String(name)))
}

func keys(m map[string]int) (k []string) {
	for s := range m {
		k = append(k, s)
	}
	return k
}

// received are the numbers in the last export of a service, by the names that Prometheus's own translation gives.
func received(t *testing.T, all []pmetric.Metrics, name string) numbers {
	t.Helper()
	n := numbers{}
	for _, export := range all {
		for _, rm := range export.ResourceMetrics().All() {
			if v, _ := rm.Resource().Attributes().Get(string(service)); v.Str() != name {
				continue
			}
			n = numbers{} // cumulative: the last export tells all
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					n.take(t, m)
				}
			}
		}
	}
	return n
}

func (n numbers) take(t *testing.T, m pmetric.Metric) {
	t.Helper()
	kind := map[pmetric.MetricType]otlptranslator.MetricType{
		pmetric.MetricTypeSum: otlptranslator.MetricTypeMonotonicCounter, pmetric.MetricTypeGauge: otlptranslator.MetricTypeGauge,
		pmetric.MetricTypeHistogram: otlptranslator.MetricTypeHistogram,
	}[m.Type()]
	if m.Type() == pmetric.MetricTypeSum && !m.Sum().IsMonotonic() {
		kind = otlptranslator.MetricTypeNonMonotonicCounter
	}
	namer := otlptranslator.MetricNamer{WithMetricSuffixes: true}
	name, err := namer.Build(otlptranslator.Metric{Name: m.Name(), Unit: m.Unit(), Type: kind})
	if err != nil {
		t.Fatal(err)
	}
	if _, known := ownLabel[name]; !known {
		t.Errorf("%s {%s} becomes %s, which the Prometheus path does not have", m.Name(), m.Unit(), name)
	}
	own := func(a pcommon.Map) string {
		if pipe, ok := a.Get(meter.LabelPipe); (!ok || pipe.Str() != "e2e") && name != meter.BuildInfo.Prometheus && name != meter.DBOperationDuration.Prometheus {
			t.Errorf("%s is not of the pipe: %v", name, a.AsRaw())
		}
		v, _ := a.Get(ownLabel[name])
		return v.Str()
	}
	points := func(list pmetric.NumberDataPointSlice) {
		for _, p := range list.All() {
			n.add(name, own(p.Attributes()), float64(p.IntValue())+p.DoubleValue())
		}
	}
	switch m.Type() {
	case pmetric.MetricTypeSum:
		points(m.Sum().DataPoints())
	case pmetric.MetricTypeGauge:
		points(m.Gauge().DataPoints())
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			n.add(name, own(p.Attributes()), float64(p.Count()))
			n[name+" sum"] += p.Sum()
		}
	default:
		t.Errorf("%s is a %v", m.Name(), m.Type())
	}
}
