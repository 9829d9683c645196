package main

import (
	"context"

	"github.com/goautopipe/redis-autopipe/bench/load"
	otelpyroscope "github.com/grafana/otel-profiling-go"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// spans puts a sampled span around every unit of work. The spans go nowhere: what we
// want are the labels span_id and span_name that the provider gives to the goroutine
// meanwhile, by which a profile can be cut.
func spans(name string) (wrap func(load.Worker) load.Worker, end func()) {
	sdk := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()))
	tracer := otelpyroscope.NewTracerProvider(sdk).Tracer("bench/cmd/profile")
	wrap = func(w load.Worker) load.Worker { return &spanWorker{w, tracer, name} }
	return wrap, func() { _ = sdk.Shutdown(context.Background()) }
}

type spanWorker struct {
	load.Worker
	tracer trace.Tracer
	name   string
}

func (w *spanWorker) Do(ctx context.Context) (int, error) {
	ctx, span := w.tracer.Start(ctx, w.name)
	defer span.End()
	return w.Worker.Do(ctx)
}
