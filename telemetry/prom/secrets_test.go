package prom_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
	"github.com/goautopipe/redis-autopipe/telemetry/profile"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
	"github.com/goautopipe/redis-autopipe/telemetry/slogpipe"
)

// secret is in every key, value, argument, password and error of the workload.
const secret = "hunter2"

type badMarshaler struct{}

func (badMarshaler) MarshalBinary() ([]byte, error) {
	return nil, errors.New(secret + " cannot be encoded")
}

// labels is a hook after autopipe's that keeps the profile labels of the goroutines it sees.
type labels struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *labels) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var buf bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&buf, 1)
	for line := range strings.Lines(buf.String()) {
		if strings.HasPrefix(line, "# labels:") {
			l.buf.WriteString(line)
		}
	}
}

func (l *labels) DialHook(next redis.DialHook) redis.DialHook { return next }
func (l *labels) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { l.look(); return next(ctx, cmd) }
}
func (l *labels) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { l.look(); return next(ctx, cmds) }
}

// Whatever the exporters write, no key, value, argument, password or error text is in it.
func TestSecretsStayInside(t *testing.T) {
	srv := redistest.Run(t, redistest.Args("--requirepass", secret))
	proxy := redistest.RunProxy(t, srv.Addr())

	reg := prometheus.NewRegistry()
	producer := otelpipe.NewProducer(otelpipe.WithDBConventions(), otelpipe.WithCommandNames(), otelpipe.WithExemplars())
	readers := []*metric.ManualReader{metric.NewManualReader(metric.WithProducer(producer)), metric.NewManualReader()}
	metric.NewMeterProvider(metric.WithReader(readers[0]))
	mp := metric.NewMeterProvider(metric.WithReader(readers[1]))
	spans := tracetest.NewSpanRecorder()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	var logs bytes.Buffer
	seen := &labels{}

	rdb := srv.Client(t, func(o *redis.Options) { o.Addr, o.Username = proxy.Addr(), "default" })
	rdb.AddHook(autopipe.New(autopipe.WithObserver(
		prom.New(reg, prom.WithCommandNames(), prom.WithExemplars(), prom.WithNativeHistograms(), prom.WithPoolStats(rdb.PoolStats)),
		producer,
		otelpipe.New(otelpipe.WithMeterProvider(mp), otelpipe.WithTracerProvider(tp), otelpipe.WithDBConventions(), otelpipe.WithCommandNames()),
		profile.New(),
		slogpipe.New(slog.New(slog.NewJSONHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug})), slogpipe.WithThreshold(0), slogpipe.WithInterval(0)),
	)))
	rdb.AddHook(seen)

	work := func(ctx context.Context) {
		key := "key:" + secret
		rdb.Set(ctx, key, secret, 0)
		rdb.Get(ctx, key)
		rdb.Incr(ctx, key)                                                                 // not a number
		rdb.LPush(ctx, key, secret)                                                        // WRONGTYPE
		rdb.Do(ctx, secret, secret)                                                        // the server quotes name and arguments
		rdb.Do(ctx, "get"+secret, key)                                                     //
		rdb.Do(ctx, "auth", "default", secret+"x")                                         // WRONGPASS
		rdb.Do(ctx, "config", "set", secret, secret)                                       // the server quotes the name
		rdb.Eval(ctx, `return redis.error_reply(ARGV[1].." failed")`, nil, secret)         // an error of the user's own
		rdb.Eval(ctx, `return redis.error_reply("ERR "..ARGV[1].." failed")`, nil, secret) //
		rdb.Set(ctx, key, badMarshaler{}, 0)                                               // refused here
		rdb.Set(ctx, key, struct{ S string }{secret}, 0)                                   //
		_, _ = rdb.Pipelined(ctx, func(p redis.Pipeliner) error { p.Set(ctx, key, secret, 0); return nil })
		short, cancel := context.WithTimeoutCause(ctx, 50*time.Microsecond, errors.New(secret))
		rdb.Get(short, key)
		cancel()
	}
	ctx, caller := tp.Tracer("test").Start(context.Background(), "caller")
	proxy.CutAfterRequest("incr key:" + secret)
	work(ctx)
	work(context.Background())
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() { work(ctx) })
	}
	wg.Wait()
	big := strings.Repeat(secret+" ", 50<<20/8)
	if err := rdb.Set(ctx, "big", big, 0).Err(); err != nil {
		t.Error(err)
	}
	caller.End()

	outputs := map[string]string{
		"prometheus text":        scrape(t, reg, ""),
		"prometheus openmetrics": scrape(t, reg, "application/openmetrics-text; version=1.0.0"),
		"log":                    logs.String(),
		"profile labels":         seen.buf.String(),
	}
	for i, r := range readers {
		var rm metricdata.ResourceMetrics
		if err := r.Collect(context.Background(), &rm); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(rm.ScopeMetrics)
		if err != nil {
			t.Fatal(err)
		}
		outputs[fmt.Sprintf("otel metrics %d", i)] = string(text)
	}
	text, err := json.Marshal(tracetest.SpanStubsFromReadOnlySpans(spans.Ended()))
	if err != nil {
		t.Fatal(err)
	}
	outputs["spans"] = string(text)

	for name, text := range outputs {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s: the secret is out: ...%s...", name, text[max(0, i-200):min(len(text), i+200)])
		}
		if len(text) < 500 {
			t.Errorf("%s: nothing is there to be searched: %q", name, text)
		}
	}
}
