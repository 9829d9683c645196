package otelpipe_test

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
)

// tracing is a tracer provider that remembers its spans. Callers are sampled if start says so.
type tracing struct {
	tp  *sdktrace.TracerProvider
	rec *tracetest.SpanRecorder
}

func newTracing(t testing.TB) *tracing {
	rec := tracetest.NewSpanRecorder()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(rec),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())))
	t.Cleanup(func() { _ = tp.Shutdown(context.Background()) })
	return &tracing{tp, rec}
}

func (tr *tracing) caller(name string) (context.Context, trace.Span) {
	return tr.tp.Tracer("test").Start(context.Background(), name)
}

// unsampled is a context within a trace that is not recorded.
func unsampled() context.Context {
	return trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{7}, SpanID: trace.SpanID{7}}))
}

func attr(s sdktrace.ReadOnlySpan, key string) attribute.Value {
	for _, kv := range s.Attributes() {
		if string(kv.Key) == key {
			return kv.Value
		}
	}
	return attribute.Value{}
}

// tree draws the spans, children below parents in the order of their names.
func (tr *tracing) tree() string {
	spans := tr.rec.Ended()
	children := map[trace.SpanID][]sdktrace.ReadOnlySpan{}
	for _, s := range spans {
		children[s.Parent().SpanID()] = append(children[s.Parent().SpanID()], s)
	}
	var b strings.Builder
	var draw func(id trace.SpanID, indent string)
	draw = func(id trace.SpanID, indent string) {
		list := children[id]
		sort.SliceStable(list, func(i, j int) bool { return list[i].Name() < list[j].Name() })
		for _, s := range list {
			fmt.Fprintf(&b, "%s%s links=%d\n", indent, s.Name(), len(s.Links()))
			draw(s.SpanContext().SpanID(), indent+"  ")
		}
	}
	draw(trace.SpanID{}, "")
	return b.String()
}

// nested is a hook after autopipe's that makes a span, as redisotel does.
type nested struct{ tracer trace.Tracer }

func (n nested) DialHook(next redis.DialHook) redis.DialHook { return next }
func (n nested) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if trace.SpanContextFromContext(ctx).IsSampled() {
			var s trace.Span
			ctx, s = n.tracer.Start(ctx, "later hook")
			defer s.End()
		}
		return next(ctx, cmd)
	}
}
func (n nested) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if trace.SpanContextFromContext(ctx).IsSampled() {
			var s trace.Span
			ctx, s = n.tracer.Start(ctx, "later hook, pipeline")
			defer s.End()
		}
		return next(ctx, cmds)
	}
}

func TestSpanTrees(t *testing.T) {
	tr := newTracing(t)
	ev := attach(otelpipe.New(otelpipe.WithMeterProvider(nil), otelpipe.WithTracerProvider(tr.tp)), "p")
	run := func(b *telemetry.Batch) {
		ctx := ev.BatchStart(b.Commands[0].Context, b)
		_, s := tr.tp.Tracer("x").Start(ctx, "later hook")
		s.End()
		ev.BatchEnd(ctx, b)
	}
	a, spanA := tr.caller("A")
	bb, spanB := tr.caller("B")

	b := batch(3, "get")
	b.Commands[0].Context, b.Commands[1].Context, b.Commands[2].Context = unsampled(), a, bb
	run(b)
	lone := batch(1, "hset")
	lone.Commands[0].Context = a
	run(lone)
	mixed := batch(2, "get", "set")
	mixed.Commands[1].Context = bb
	run(mixed)
	spanA.End()
	spanB.End()

	want := `A links=0
  GET links=1
  HSET links=0
    later hook links=0
  PIPELINE GET links=2
    later hook links=0
B links=0
  GET links=1
  PIPELINE links=1
    later hook links=0
  SET links=1
`
	if got := tr.tree(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	batches := map[string]sdktrace.ReadOnlySpan{}
	for _, s := range tr.rec.Ended() {
		if strings.HasPrefix(s.Name(), "PIPELINE") {
			batches[s.SpanContext().SpanID().String()] = s
			if attr(s, "db.operation.batch.size").AsInt64() < 2 || attr(s, "autopipe.flush.reason").AsString() != "drain" {
				t.Errorf("%s: attributes %v", s.Name(), s.Attributes())
			}
		} else if attr(s, "db.operation.batch.size").AsInt64() != 0 {
			t.Errorf("%s has a batch size", s.Name())
		}
	}
	for _, s := range tr.rec.Ended() {
		if s.Name() != "GET" {
			continue
		}
		if batches[s.Links()[0].SpanContext.SpanID().String()] == nil {
			t.Errorf("the link of %s leads to no batch", s.Name())
		}
		if s.SpanKind() != trace.SpanKindClient || attr(s, "db.system.name").AsString() != "redis" ||
			attr(s, "autopipe.batch.size").AsInt64() != 3 || attr(s, "autopipe.queue.wait").AsFloat64() <= 0 ||
			attr(s, "autopipe.attempts").AsInt64() != 1 || attr(s, "autopipe.outcome").AsString() != "ok" {
			t.Errorf("%s: kind %v, attributes %v", s.Name(), s.SpanKind(), s.Attributes())
		}
	}
}

func TestSpanTimesAndErrors(t *testing.T) {
	tr := newTracing(t)
	ev := attach(otelpipe.New(otelpipe.WithMeterProvider(nil), otelpipe.WithTracerProvider(tr.tp)), "p")
	a, spanA := tr.caller("A")
	defer spanA.End()
	b := batch(5, "get", "set", "del", "incr", "secret-name")
	b.Node = "10.0.0.1:7000"
	for i := range b.Commands {
		b.Commands[i].Context = a
	}
	b.Commands[0].Attempt, b.Commands[0].Start = 3, b.Cut.Add(-time.Second)
	b.Commands[1].Outcome, b.Commands[1].Err = telemetry.OutcomeServerError, serverError("WRONGTYPE secret")
	b.Commands[2].Again = true
	b.Commands[3].Left, b.Commands[3].Outcome, b.Commands[3].Duration = true, telemetry.OutcomeCancelled, 50*time.Microsecond
	ev.BatchEnd(ev.BatchStart(a, b), b)
	byName := map[string]sdktrace.ReadOnlySpan{}
	for _, s := range tr.rec.Ended() {
		byName[s.Name()] = s
	}
	if len(byName) != 5 { // the batch, GET, SET, INCR, and the one without a known name
		t.Fatalf("spans: %s", tr.tree())
	}
	get := byName["GET"]
	if d := get.EndTime().Sub(get.StartTime()); d != time.Second+b.RoundTrip || attr(get, "autopipe.attempts").AsInt64() != 3 {
		t.Errorf("GET took %v in %v attempts", d, attr(get, "autopipe.attempts"))
	}
	if attr(get, "server.address").AsString() != "10.0.0.1" || attr(get, "server.port").AsInt64() != 7000 {
		t.Errorf("server: %v", get.Attributes())
	}
	set := byName["SET"]
	if set.Status().Code != codes.Error || set.Status().Description != "WRONGTYPE" || attr(set, "error.type").AsString() != "WRONGTYPE" ||
		attr(set, "db.response.status_code").AsString() != "WRONGTYPE" {
		t.Errorf("SET: %v %v", set.Status(), set.Attributes())
	}
	if incr := byName["INCR"]; incr.EndTime().Sub(incr.StartTime()) != 50*time.Microsecond || attr(incr, "error.type").AsString() != "cancelled" {
		t.Errorf("INCR, whose caller left: %v, %v", incr.EndTime().Sub(incr.StartTime()), incr.Attributes())
	}
	if s := byName["redis"]; s == nil || attr(s, "db.operation.name").AsString() != "" {
		t.Error("a name that is not in the table must not show")
	}
	if s := byName["PIPELINE"]; s.Status().Code == codes.Error {
		t.Error("one command's error is not the batch's")
	}
}

func TestLinksAreCapped(t *testing.T) {
	tr := newTracing(t)
	ev := attach(otelpipe.New(otelpipe.WithMeterProvider(nil), otelpipe.WithTracerProvider(tr.tp)), "p")
	a, spanA := tr.caller("A")
	defer spanA.End()
	b := batch(300)
	for i := range b.Commands {
		b.Commands[i].Context = a
	}
	ev.BatchEnd(ev.BatchStart(a, b), b)
	for _, s := range tr.rec.Ended() {
		if s.Name() == "PIPELINE GET" && (len(s.Links()) != 128 || attr(s, "autopipe.batch.sampled_callers").AsInt64() != 300) {
			t.Errorf("%d links, %v callers", len(s.Links()), attr(s, "autopipe.batch.sampled_callers"))
		}
	}
}

func TestOtherSpans(t *testing.T) {
	tr := newTracing(t)
	ev := attach(otelpipe.New(otelpipe.WithMeterProvider(nil), otelpipe.WithTracerProvider(tr.tp)), "p")
	a, spanA := tr.caller("A")
	for _, ctx := range []context.Context{a, unsampled(), context.Background()} {
		ev.Direct(ctx, &telemetry.Direct{Name: "blpop", Reason: telemetry.DirectBlocking, Start: time.Now(), Duration: time.Second})
		ev.Drop(ctx, &telemetry.Drop{Name: "get", Outcome: telemetry.OutcomeRejected})
		ev.Drop(ctx, &telemetry.Drop{Name: "get", Outcome: telemetry.OutcomeCancelled, InFlight: true}) // in its batch's
		ev.Pipeline(ctx, &telemetry.Pipeline{Size: 4, Start: time.Now()})
		ev.Pipeline(ctx, &telemetry.Pipeline{Size: 1, Tx: true, Start: time.Now()})
	}
	spanA.End()
	want := "A links=0\n  BLPOP links=0\n  GET links=0\n  MULTI links=0\n  PIPELINE links=0\n"
	if got := tr.tree(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, s := range tr.rec.Ended() {
		if size := attr(s, "db.operation.batch.size").AsInt64(); size == 1 || s.Name() == "PIPELINE" && size != 4 {
			t.Errorf("%s: batch size %d", s.Name(), size)
		}
	}
}

// With a real client: every sampled caller has one span for each of its commands, nobody else has any, and what later
// hooks make is below autopipe's.
func TestSpansOfAClient(t *testing.T) {
	rdb := redistest.Run(t).Client(t)
	tr := newTracing(t)
	rdb.AddHook(autopipe.New(autopipe.WithObserver(
		otelpipe.New(otelpipe.WithMeterProvider(nil), otelpipe.WithTracerProvider(tr.tp), otelpipe.WithServer(rdb.Options().Addr)))))
	rdb.AddHook(nested{tr.tp.Tracer("nested")})
	const callers, each = 30, 20
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			ctx, span := unsampled(), trace.Span(nil)
			if i%3 == 0 {
				ctx, span = tr.caller(fmt.Sprintf("caller-%02d", i))
				defer span.End()
			}
			for range each {
				if err := rdb.Set(ctx, "a-secret-key", "a-secret-value", 0).Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	perCaller := map[trace.SpanID]int{}
	ids := map[trace.SpanID]string{}
	for _, s := range tr.rec.Ended() {
		ids[s.SpanContext().SpanID()] = s.Name()
		if s.Name() == "SET" {
			perCaller[s.Parent().SpanID()]++
		}
		if d := s.EndTime().Sub(s.StartTime()); d < 0 {
			t.Errorf("%s took %v", s.Name(), d)
		}
	}
	if len(perCaller) != callers/3 {
		t.Errorf("%d callers have spans, want %d", len(perCaller), callers/3)
	}
	for id, n := range perCaller {
		if n != each || !strings.HasPrefix(ids[id], "caller-") {
			t.Errorf("%q has %d spans, want %d", ids[id], n, each)
		}
	}
	for _, s := range tr.rec.Ended() {
		parent := ids[s.Parent().SpanID()]
		ok := true
		switch s.Name() {
		case "later hook":
			ok = parent == "SET" || strings.HasPrefix(parent, "later hook") // go-redis sets up a connection under the command
		case "later hook, pipeline":
			ok = parent == "PIPELINE SET" || strings.HasPrefix(parent, "later hook")
		case "PIPELINE SET":
			ok = strings.HasPrefix(parent, "caller-")
		}
		if !ok {
			t.Errorf("%s is below %q", s.Name(), parent)
		}
		if s.Parent().SpanID() == (trace.SpanID{}) && !strings.HasPrefix(s.Name(), "caller-") {
			t.Errorf("%s is a root", s.Name())
		}
	}
}

func TestUnsampledCallersCostNoAllocation(t *testing.T) {
	tr := newTracing(t)
	ev := attach(otelpipe.New(otelpipe.WithMeterProvider(nil), otelpipe.WithTracerProvider(tr.tp)), "p")
	ctx := unsampled()
	b := batch(100)
	for i := range b.Commands {
		b.Commands[i].Context = ctx
	}
	if n := testing.AllocsPerRun(100, func() { ev.BatchEnd(ev.BatchStart(ctx, b), b) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkSpans(b *testing.B) {
	for _, c := range []struct {
		name    string
		sampled int // every so many-th caller
	}{{"nobody sampled", 0}, {"1 of 64 sampled", 64}, {"all sampled", 1}} {
		b.Run(c.name, func(b *testing.B) {
			tp := sdktrace.NewTracerProvider()
			ev := attach(otelpipe.New(otelpipe.WithMeterProvider(nil), otelpipe.WithTracerProvider(tp)), "p")
			type key int
			ctx := context.WithValue(context.WithValue(unsampled(), key(1), 2), key(3), 4)
			batch := batch(64)
			for i := range batch.Commands {
				batch.Commands[i].Context = ctx
				if c.sampled > 0 && i%c.sampled == 0 {
					batch.Commands[i].Context, _ = tp.Tracer("x").Start(context.Background(), "caller")
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				ev.BatchEnd(ev.BatchStart(ctx, batch), batch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/command")
		})
	}
}
