package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	otelpyroscope "github.com/grafana/otel-profiling-go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/goautopipe/redis-autopipe/bench/push"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
	"github.com/goautopipe/redis-autopipe/telemetry/profile"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
	"github.com/goautopipe/redis-autopipe/telemetry/slogpipe"
)

// Service is the demo's name in traces and in metrics sent over OTLP: the same as in profiles, so that one leads to the other.
const Service = push.App

// telemetries is everything that observes the demo's hooks.
type telemetries struct {
	registry    *prometheus.Registry
	log         *slog.Logger
	conventions *sdkmetric.MeterProvider // into the registry
	pushed      *sdkmetric.MeterProvider // over OTLP; nil without
	producer    *otelpipe.Producer
	traces      *sdktrace.TracerProvider
	provider    trace.TracerProvider // traces, with profiles tied to the spans if there is a Pyroscope
	tracer      trace.Tracer
}

func newTelemetries(ctx context.Context, cfg Config, log *slog.Logger) (*telemetries, error) {
	t := &telemetries{registry: prometheus.NewRegistry(), log: log}
	t.registry.MustRegister(
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsGC, collectors.MetricsScheduler)),
	)
	about := resource.NewSchemaless(semconv.ServiceName(Service))
	var err error
	if t.conventions, err = conventions(t.registry, about); err != nil {
		return nil, err
	}
	if t.traces, err = tracing(ctx, cfg.OTLPTraces, about); err != nil {
		return nil, err
	}
	t.provider = t.traces
	if cfg.Pyroscope != "" {
		t.provider = otelpyroscope.NewTracerProvider(t.traces)
	}
	t.tracer = t.provider.Tracer("github.com/goautopipe/redis-autopipe/bench/demo")
	if cfg.OTLPMetrics != "" {
		t.producer = otelpipe.NewProducer(otelpipe.WithExemplars())
		if t.pushed, err = pushing(ctx, cfg, about, t.producer); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// conventions exports db.client.operation.duration, which only package otelpipe has, among the metrics of package prom.
// The other instruments are the same metrics once more: a view drops them.
func conventions(reg prometheus.Registerer, about *resource.Resource) (*sdkmetric.MeterProvider, error) {
	exporter, err := otelprom.New(otelprom.WithRegisterer(reg), otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("the exporter of the database conventions: %w", err)
	}
	drop := sdkmetric.NewView(sdkmetric.Instrument{Name: "autopipe.*"}, sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}})
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithView(drop), sdkmetric.WithResource(about)), nil
}

// observers for the hook of one client, which has this server and these statistics of its pool.
func (t *telemetries) observers(server string, stats func() *redis.PoolStats) []telemetry.Observer {
	all := []telemetry.Observer{
		prom.New(t.registry, prom.WithExemplars(), prom.WithCommandNames(), prom.WithPoolStats(stats)),
		otelpipe.New(otelpipe.WithMeterProvider(t.conventions), otelpipe.WithDBConventions(),
			otelpipe.WithTracerProvider(t.provider), otelpipe.WithServer(server)),
		profile.New(),
		slogpipe.New(t.log, slogpipe.WithThreshold(300*time.Millisecond), slogpipe.WithInterval(10*time.Second)),
	}
	if t.producer != nil {
		all = append(all, t.producer)
	}
	return all
}

// span begins the trace of one operation.
func (t *telemetries) span(ctx context.Context, pipe string) (context.Context, func()) {
	ctx, s := t.tracer.Start(ctx, "operation "+pipe)
	return ctx, func() { s.End() }
}

// close sends what is left, for as long as ctx allows.
func (t *telemetries) close(ctx context.Context) error {
	errs := []error{t.traces.Shutdown(ctx), t.conventions.Shutdown(ctx)}
	if t.pushed != nil {
		errs = append(errs, t.pushed.Shutdown(ctx))
	}
	return errors.Join(errs...)
}
