package demo

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// overGRPC reports whether a URL asks for OTLP over gRPC, and gives it as the exporters want it: without TLS.
func overGRPC(url string) (string, bool) {
	host, ok := strings.CutPrefix(url, "grpc://")
	return "http://" + host, ok
}

// withPath gives a URL that names no path the one that OTLP has for a signal.
func withPath(url, path string) string {
	_, rest, _ := strings.Cut(url, "://")
	if _, have, _ := strings.Cut(rest, "/"); have != "" {
		return url
	}
	return strings.TrimSuffix(url, "/") + path
}

// pushing exports the producer's metrics every so often.
func pushing(ctx context.Context, cfg Config, about *resource.Resource, p sdkmetric.Producer) (*sdkmetric.MeterProvider, error) {
	var exporter sdkmetric.Exporter
	var err error
	if url, ok := overGRPC(cfg.OTLPMetrics); ok {
		exporter, err = otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpointURL(url))
	} else {
		exporter, err = otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(withPath(cfg.OTLPMetrics, "/v1/metrics")))
	}
	if err != nil {
		return nil, fmt.Errorf("OTLP metrics: %w", err)
	}
	reader := sdkmetric.NewPeriodicReader(exporter, sdkmetric.WithInterval(cfg.OTLPEvery), sdkmetric.WithProducer(p))
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(about)), nil
}

// tracing makes spans, and exports them if there is somewhere to send them; without, they still give exemplars.
func tracing(ctx context.Context, url string, about *resource.Resource) (*sdktrace.TracerProvider, error) {
	opts := []sdktrace.TracerProviderOption{sdktrace.WithResource(about), sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample()))}
	if url != "" {
		client := otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(withPath(url, "/v1/traces")))
		if u, ok := overGRPC(url); ok {
			client = otlptracegrpc.NewClient(otlptracegrpc.WithEndpointURL(u))
		}
		exporter, err := otlptrace.New(ctx, client)
		if err != nil {
			return nil, fmt.Errorf("OTLP traces: %w", err)
		}
		opts = append(opts, sdktrace.WithBatcher(exporter))
	}
	return sdktrace.NewTracerProvider(opts...), nil
}
