package prom_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
)

// batch makes a batch of n commands as the engine would at BatchEnd.
func batch(n int, names ...string) *telemetry.Batch {
	b := &telemetry.Batch{Pipe: "p", Reason: telemetry.FlushDrain, Size: n, Bytes: 50 * n, Cut: time.Now(), RoundTrip: 200 * time.Microsecond}
	for i := range n {
		name := "get"
		if len(names) > 0 {
			name = names[i%len(names)]
		}
		wait := time.Duration(n-i) * time.Microsecond
		b.Commands = append(b.Commands, telemetry.Command{
			Name: name, Context: context.Background(), Wait: wait, Attempt: 1, Start: b.Cut.Add(-wait), Outcome: telemetry.OutcomeOK,
		})
	}
	return b
}

func attach(o telemetry.Observer, name string) telemetry.Events {
	return o.Attach(telemetry.Pipe{Name: name, MaxBatch: 512, MaxQueue: 65536, Retry: "safe",
		Gauges: func() telemetry.Gauges { return telemetry.Gauges{Queued: 2, InFlight: 1} }})
}

func gather(t testing.TB, reg prometheus.Gatherer) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]*dto.MetricFamily{}
	for _, f := range families {
		m[f.GetName()] = f
	}
	return m
}

// sum adds a counter's or gauge's values, or a histogram's counts, over the series that have all of the labels (k, v ...).
func sum(f *dto.MetricFamily, labels ...string) (n float64) {
next:
	for _, m := range f.GetMetric() {
		have := map[string]string{}
		for _, l := range m.GetLabel() {
			have[l.GetName()] = l.GetValue()
		}
		for i := 0; i < len(labels); i += 2 {
			if have[labels[i]] != labels[i+1] {
				continue next
			}
		}
		n += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return n
}

func scrape(t testing.TB, reg prometheus.Gatherer, accept string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("scrape: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func pool() *redis.PoolStats {
	return &redis.PoolStats{Hits: 5, Misses: 2, TotalConns: 3, IdleConns: 1, WaitCount: 4, WaitDurationNs: 2e9}
}

func TestEveryMetricIsThereFromTheStart(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	attach(prom.New(reg, prom.WithPoolStats(pool)), "p") // its events, and with them the gauges, may be gone at once
	o := prom.New(reg, prom.WithPoolStats(pool))
	ev := attach(o, "q")
	all := gather(t, reg)
	for _, m := range meter.Catalogue {
		if m == meter.DBOperationDuration {
			continue
		}
		f := all[m.Prometheus]
		if f == nil {
			t.Errorf("%s is missing", m.Prometheus)
			continue
		}
		if m.Counts != nil {
			for i := range m.Values {
				found := false
				for _, s := range f.GetMetric() {
					for _, l := range s.GetLabel() {
						found = found || l.GetName() == m.Label && l.GetValue() == m.Values[i]
					}
				}
				if !found {
					t.Errorf("%s{%s=%q} is missing", m.Prometheus, m.Label, m.Values[i])
				}
			}
		}
	}
	for name := range all {
		known := false
		for _, m := range meter.Catalogue {
			known = known || m.Prometheus == name
		}
		if !known {
			t.Errorf("%s is not in the catalogue", name)
		}
	}
	if got := sum(all["autopipe_queue_depth"], "pipe", "q"); got != 2 {
		t.Errorf("queue depth %g", got)
	}
	if got := sum(all["autopipe_pool_hits_total"], "pipe", "q", "pool", "main"); got != 5 {
		t.Errorf("pool hits %g", got)
	}
	_ = ev
}

func TestPromtoolCheckMetrics(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is missing; install it with: apt-get install prometheus")
	}
	reg := prometheus.NewRegistry()
	ev := attach(prom.New(reg, prom.WithPoolStats(pool), prom.WithCommandNames(), prom.WithNativeHistograms()), "p")
	ev.BatchEnd(context.Background(), batch(3, "get", "set", "x"))
	cmd := exec.Command(tool, "check", "metrics")
	cmd.Stdin = strings.NewReader(scrape(t, reg, ""))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// New may be called any number of times on one registry, with other options too, and through a wrapper.
func TestHooksShareARegistry(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	a, b := attach(prom.New(reg), "a"), attach(prom.New(reg, prom.WithCommandNames()), "b")
	a2 := attach(prom.New(reg, prom.WithNativeHistograms()), "a")
	ctx := context.Background()
	a.BatchEnd(ctx, batch(2))
	b.BatchEnd(ctx, batch(3))
	a2.BatchEnd(ctx, batch(5))
	all := gather(t, reg)
	for pipe, want := range map[string]float64{"a": 7, "b": 3} {
		if got := sum(all["autopipe_commands_total"], "pipe", pipe); got != want {
			t.Errorf("pipe %s: %g commands, want %g", pipe, got, want)
		}
	}
	if got := sum(all["autopipe_queue_limit"], "pipe", "a"); got != 2*65536 {
		t.Errorf("queue limit of two hooks: %g", got)
	}
	wrapped := prometheus.WrapRegistererWith(prometheus.Labels{"app": "x"}, prometheus.NewRegistry())
	if o := prom.New(wrapped); o.Err() != nil {
		t.Error(o.Err())
	}
	if o := prom.New(wrapped); o.Err() != nil {
		t.Errorf("second New on a wrapped registry: %v", o.Err())
	}
	_, _, _ = a, b, a2
}

func TestNameTakenBySomebodyElse(t *testing.T) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "autopipe_commands_total", Help: "Not ours."}))
	o := prom.New(reg)
	if o.Err() == nil {
		t.Error("no error")
	}
	attach(o, "p").BatchEnd(context.Background(), batch(2)) // counts all the same
	if err := prometheus.NewRegistry().Register(o.Collector()); err != nil {
		t.Error(err)
	}
}

func TestSeriesStayFlat(t *testing.T) {
	reg := prometheus.NewRegistry()
	o := prom.New(reg, prom.WithCommandNames())
	count := func() (n int) {
		for _, f := range gather(t, reg) {
			n += len(f.GetMetric())
		}
		return n
	}
	autopipe.New(autopipe.WithObserver(o))
	ev := attach(o, "default")
	ev.BatchEnd(context.Background(), batch(2, "get", "unheard-of"))
	before := count()
	for i := range 1000 {
		autopipe.New(autopipe.WithObserver(o))
		ev.BatchEnd(context.Background(), batch(10, fmt.Sprintf("raw-a-%d", i), fmt.Sprintf("raw-b-%d", i), "get"))
	}
	for i := range 10_000 {
		ev.Direct(context.Background(), &telemetry.Direct{Name: fmt.Sprintf("raw-c-%d", i)})
	}
	// The hooks that are alive differ in options from the attached fake, so config_info may have one more or less.
	if after := count(); after > before+1 {
		t.Errorf("%d series grew to %d", before, after)
	}
}

func TestNativeHistograms(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	ev := attach(prom.New(reg, prom.WithNativeHistograms()), "p")
	ev.BatchEnd(context.Background(), batch(100))
	h := gather(t, reg)["autopipe_batch_duration_seconds"].GetMetric()[0].GetHistogram()
	if h.GetSchema() != 3 || len(h.GetPositiveSpan()) != 1 || h.GetPositiveDelta()[0] != 1 {
		t.Fatalf("native part: %v", h)
	}
	// 200 us is in the bucket (2^((i-1)/8), 2^(i/8)] of this index.
	if i, want := h.GetPositiveSpan()[0].GetOffset(), int32(math.Ceil(math.Log2(200e-6)*8)); i != want {
		t.Errorf("index %d, want %d", i, want)
	}
	if len(h.GetBucket()) == 0 {
		t.Error("the classic buckets are gone")
	}
}

func TestExemplars(t *testing.T) {
	reg := prometheus.NewRegistry()
	ev := attach(prom.New(reg, prom.WithExemplars(), prom.WithNativeHistograms()), "p")
	b := batch(20)
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 2}, SpanID: trace.SpanID{3, 4}, TraceFlags: trace.FlagsSampled})
	b.Commands[2].Context = trace.ContextWithSpanContext(context.Background(), sc)
	unsampled := sc.WithTraceFlags(0).WithSpanID(trace.SpanID{9})
	b.Commands[0].Context = trace.ContextWithSpanContext(context.Background(), unsampled)
	ev.BatchEnd(context.Background(), b)
	text := scrape(t, reg, "application/openmetrics-text; version=1.0.0")
	for _, name := range []string{"autopipe_batch_duration_seconds_bucket", "autopipe_command_duration_seconds_bucket", "autopipe_queue_wait_duration_seconds_bucket"} {
		found := 0
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, name) && strings.Contains(line, `span_id="0304000000000000"`) &&
				strings.Contains(line, `trace_id="01020000000000000000000000000000"`) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s has %d exemplars, want 1", name, found)
		}
	}
	if strings.Contains(text, unsampled.SpanID().String()) {
		t.Error("the span of a caller that is not sampled became an exemplar")
	}
}

func TestNoAllocations(t *testing.T) {
	ev := attach(prom.New(prometheus.NewRegistry(), prom.WithCommandNames(), prom.WithExemplars()), "p")
	ctx := trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled}))
	one, many := batch(1), batch(100, "get", "set", "whatever")
	many.Commands[1].Context = ctx
	if n := testing.AllocsPerRun(200, func() {
		ev.BatchEnd(ctx, one)
		ev.BatchEnd(ctx, many)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkBatchEnd(b *testing.B) {
	for name, opts := range map[string][]prom.Option{
		"plain": nil, "all": {prom.WithCommandNames(), prom.WithExemplars(), prom.WithNativeHistograms()},
	} {
		for _, size := range []int{1, 64, 512} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				ev := attach(prom.New(prometheus.NewRegistry(), opts...), "p")
				ctx, batch := context.Background(), batch(size)
				b.ReportAllocs()
				for b.Loop() {
					ev.BatchEnd(ctx, batch)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/command")
			})
		}
	}
}

func BenchmarkCollect(b *testing.B) {
	o := prom.New(nil)
	attach(o, "p").BatchEnd(context.Background(), batch(10))
	for b.Loop() {
		ch := make(chan prometheus.Metric, 1000)
		o.Collector().Collect(ch)
	}
}
