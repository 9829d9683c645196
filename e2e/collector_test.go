package e2e

import (
	"context"
	"fmt"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// collector is the OpenTelemetry Collector's own OTLP receiver, with a memory behind it.
type collector struct {
	grpc, http string // host:port
	metrics    consumertest.MetricsSink
	traces     consumertest.TracesSink
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{grpc: freePort(t), http: freePort(t)}
	f := otlpreceiver.NewFactory()
	cfg := f.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{
		"grpc": map[string]any{"endpoint": c.grpc},
		"http": map[string]any{"endpoint": c.http},
	}}).Unmarshal(cfg); err != nil {
		t.Fatal(err)
	}
	set, ctx := receivertest.NewNopSettings(f.Type()), context.Background()
	metrics, err := f.CreateMetrics(ctx, set, cfg, &c.metrics)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := f.CreateTraces(ctx, set, cfg, &c.traces)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []component.Component{metrics, traces} {
		if err := r.Start(ctx, componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Shutdown(ctx); err != nil {
				t.Errorf("the collector's shutdown: %v", err)
			}
		})
	}
	return c
}

// freePort is an address of this machine that nobody has, nor gets soon.
func freePort(t *testing.T) string {
	t.Helper()
	port, err := redistest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("127.0.0.1:", port)
}
