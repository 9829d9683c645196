package interop

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/extra/redisotel/v9"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestRedisotel adds go-redis's own tracing before and after autopipe.
//
// Before, it sees single commands: every command has a span under its caller's, which lasts as long as the caller waited.
//
//	caller
//	└─ set                 (queue and round trip)
//
// After, it sees what is sent: a shared batch has one span, under the caller whose command comes first in it; a lone
// command has its own.
//
//	caller
//	└─ redis.pipeline set get set ...   (round trip)
func TestRedisotel(t *testing.T) {
	srv := redistest.Run(t)
	const callers, each = 50, 20
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprint("before ", before), func(t *testing.T) {
			rec := tracetest.NewSpanRecorder()
			tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(rec))
			rdb := srv.Client(t)
			ap := autopipe.New()
			if !before {
				rdb.AddHook(ap)
			}
			if err := redisotel.InstrumentTracing(rdb, redisotel.WithTracerProvider(tp)); err != nil {
				t.Fatal(err)
			}
			if before {
				rdb.AddHook(ap)
			}
			var wg sync.WaitGroup
			for g := range callers {
				wg.Go(func() {
					ctx, span := tp.Tracer("test").Start(context.Background(), "caller")
					defer span.End()
					key := fmt.Sprint("k", g)
					for i := range each {
						if err := rdb.Set(ctx, key, i, 0).Err(); err != nil {
							t.Error(err)
						}
						if n, err := rdb.Get(ctx, key).Int(); n != i || err != nil {
							t.Errorf("read %d, %v, want %d", n, err, i)
						}
					}
				})
			}
			wg.Wait()

			callerOf := map[trace.SpanID]bool{}
			for _, s := range rec.Ended() {
				if s.Name() == "caller" {
					callerOf[s.SpanContext().SpanID()] = true
				}
			}
			commands, pipelines := 0, 0
			for _, s := range rec.Ended() {
				switch name := s.Name(); {
				case name == "caller" || strings.HasPrefix(name, "redis.dial"):
					continue
				case strings.HasPrefix(name, "redis.pipeline"):
					if strings.Contains(name, "client") || strings.Contains(name, "hello") {
						continue // the set-up of a connection
					}
					pipelines++
				case name == "set" || name == "get":
					commands++
				default:
					continue // hello, and what else sets a connection up
				}
				if !callerOf[s.Parent().SpanID()] {
					t.Errorf("span %q is not below a caller", s.Name())
				}
			}
			stats := ap.Stats()
			if stats.MeanBatch() < 2 {
				t.Errorf("mean batch %.1f: nothing was shared", stats.MeanBatch())
			}
			if before && (commands != 2*callers*each || pipelines != 0) {
				t.Errorf("%d command and %d pipeline spans, want %d and 0", commands, pipelines, 2*callers*each)
			}
			if !before && uint64(commands+pipelines) != stats.Batches {
				t.Errorf("%d command and %d pipeline spans, want one for each of %d batches", commands, pipelines, stats.Batches)
			}
		})
	}
}
