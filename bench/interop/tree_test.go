package interop

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
)

// TestTrees records the traces of three callers whose commands share a batch, and compares them with the trees of
// docs/tracing.md.
func TestTrees(t *testing.T) {
	page, err := os.ReadFile("../../docs/tracing.md")
	if err != nil {
		t.Fatal(err)
	}
	trees := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)```text ([a-z ]+)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		trees[m[1]] = m[2]
	}
	own := func(tp trace.TracerProvider) autopipe.Option {
		return autopipe.WithObserver(otelpipe.New(otelpipe.WithMeterProvider(nil), otelpipe.WithTracerProvider(tp)))
	}
	theirs := func(rdb *redis.Client, tp trace.TracerProvider) {
		if err := redisotel.InstrumentTracing(rdb, redisotel.WithTracerProvider(tp)); err != nil {
			t.Fatal(err)
		}
	}
	// A linger and a limit of three make the three commands one batch.
	three := []autopipe.Option{autopipe.WithLinger(time.Second), autopipe.WithMaxBatch(3)}
	srv := redistest.Run(t)
	for name, instrument := range map[string]func(*redis.Client, trace.TracerProvider){
		"otelpipe": func(rdb *redis.Client, tp trace.TracerProvider) {
			rdb.AddHook(autopipe.New(append(three, own(tp))...))
		},
		"redisotel before": func(rdb *redis.Client, tp trace.TracerProvider) {
			theirs(rdb, tp)
			rdb.AddHook(autopipe.New(three...))
		},
		"redisotel after": func(rdb *redis.Client, tp trace.TracerProvider) {
			rdb.AddHook(autopipe.New(three...))
			theirs(rdb, tp)
		},
		"both": func(rdb *redis.Client, tp trace.TracerProvider) {
			rdb.AddHook(autopipe.New(append(three, own(tp))...))
			theirs(rdb, tp)
		},
	} {
		t.Run(name, func(t *testing.T) {
			rec := tracetest.NewSpanRecorder()
			tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(rec))
			rdb := srv.Client(t)
			instrument(rdb, tp)
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					ctx, span := tp.Tracer("test").Start(context.Background(), "caller")
					defer span.End()
					if err := rdb.Set(ctx, "k", 1, 0).Err(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if got := tree(rec.Ended()); got != trees[name] {
				t.Errorf("recorded\n%s\nin docs/tracing.md\n%s", got, trees[name])
			}
		})
	}
}

// tree draws the callers' traces, the one with the most spans first. What sets a connection up is left out.
func tree(spans []sdktrace.ReadOnlySpan) string {
	below := map[trace.SpanID][]sdktrace.ReadOnlySpan{}
	var roots []sdktrace.ReadOnlySpan
	for _, s := range spans {
		switch name := s.Name(); {
		case name == "caller":
			roots = append(roots, s)
		case name == "redis.dial" || strings.Contains(name, "hello") || strings.Contains(name, "client"):
		default:
			below[s.Parent().SpanID()] = append(below[s.Parent().SpanID()], s)
		}
	}
	slices.SortStableFunc(roots, func(a, b sdktrace.ReadOnlySpan) int {
		return len(below[b.SpanContext().SpanID()]) - len(below[a.SpanContext().SpanID()])
	})
	var b strings.Builder
	var draw func(id trace.SpanID, indent string)
	draw = func(id trace.SpanID, indent string) {
		children := below[id]
		slices.SortFunc(children, func(a, b sdktrace.ReadOnlySpan) int { return strings.Compare(a.Name(), b.Name()) })
		for i, s := range children {
			branch, next := "├── ", "│   "
			if i == len(children)-1 {
				branch, next = "└── ", "    "
			}
			fmt.Fprintf(&b, "%s%s%s%s\n", indent, branch, s.Name(), details(s))
			draw(s.SpanContext().SpanID(), indent+next)
		}
	}
	for i, s := range roots {
		fmt.Fprintf(&b, "caller %c\n", 'A'+i)
		draw(s.SpanContext().SpanID(), "")
	}
	return b.String()
}

// details are the attributes that the page mentions.
func details(s sdktrace.ReadOnlySpan) string {
	var d []string
	for _, key := range []attribute.Key{"autopipe.flush.reason", "autopipe.batch.size", "db.operation.batch.size"} {
		for _, kv := range s.Attributes() {
			// A command's own span has the reason too; the page shows it once.
			if kv.Key == key && (key != "autopipe.flush.reason" || len(s.Links()) > 1) {
				d = append(d, fmt.Sprintf("%s=%s", key, kv.Value.String()))
			}
		}
	}
	switch len(s.Links()) {
	case 0:
		return ""
	case 1:
		d = append(d, "links to the batch")
	default:
		d = append(d, fmt.Sprintf("links to %d callers", len(s.Links())))
	}
	return "  (" + strings.Join(d, ", ") + ")"
}
