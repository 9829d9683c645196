package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
)

// Every command of a sampled caller arrives as one client span below the caller's, and linked with its batch's span
// both ways unless it travelled alone; callers that are not sampled cause no span at all.
func TestTracesReachACollector(t *testing.T) {
	ctx := context.Background()
	c := startCollector(t)
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(c.grpc), otlptracegrpc.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter, sdktrace.WithMaxQueueSize(1<<16)))
	rdb := redistest.Run(t).Client(t)
	h := autopipe.New(autopipe.WithObserver(otelpipe.New(
		otelpipe.WithMeterProvider(nil), otelpipe.WithTracerProvider(tp), otelpipe.WithServer(rdb.Options().Addr))))
	rdb.AddHook(h)

	const sampled, commands = 10, 50
	var wg sync.WaitGroup
	for id := range 3 * sampled {
		wg.Go(func() {
			ctx := ctx
			if id < sampled {
				caller, span := tp.Tracer("e2e").Start(ctx, fmt.Sprint("caller ", id))
				defer span.End()
				ctx = caller
			}
			for range commands {
				if err := rdb.Set(ctx, "secret-key", "secret-value", 0).Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	rest(t, h)
	if err := tp.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}

	spans := map[pcommon.SpanID]ptrace.Span{}
	for _, export := range c.traces.AllTraces() {
		for _, rs := range export.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, s := range ss.Spans().All() {
					spans[s.SpanID()] = s
				}
			}
		}
	}
	below, fromBatches, fromCommands := map[string]int{}, 0, 0
	for _, s := range spans {
		for key, v := range s.Attributes().All() {
			if strings.Contains(v.AsString(), "secret") {
				t.Errorf("%s of %s tells %q", key, s.Name(), v.AsString())
			}
		}
		for _, l := range s.Links().All() {
			if to, ok := spans[l.SpanID()]; !ok || to.TraceID() != l.TraceID() {
				t.Errorf("a link of %s leads nowhere", s.Name())
			}
		}
		if s.Name() == "PIPELINE SET" {
			fromBatches += s.Links().Len()
		}
		if s.Name() != "SET" {
			continue
		}
		fromCommands += s.Links().Len()
		if s.Kind() != ptrace.SpanKindClient {
			t.Errorf("SET is a %v", s.Kind())
		}
		parent := spans[s.ParentSpanID()]
		below[parent.Name()]++
	}
	if len(below) != sampled {
		t.Errorf("commands below %d callers, want %d: %v", len(below), sampled, below)
	}
	for name, n := range below {
		if n != commands || !strings.HasPrefix(name, "caller ") {
			t.Errorf("%d commands below %q, want %d", n, name, commands)
		}
	}
	if fromBatches == 0 || fromBatches != fromCommands || fromBatches > sampled*commands {
		t.Errorf("%d links from batches to commands, %d back, for %d commands", fromBatches, fromCommands, sampled*commands)
	}
}
