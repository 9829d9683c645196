package otelpipe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
)

func TestEveryMetricOfTheCatalogue(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			o, r := w.start(otelpipe.WithDBConventions(), otelpipe.WithPoolStats(pool))
			ev := attach(o, "p")
			zero := collect(t, r)
			for _, m := range meter.Catalogue {
				if m.Counts == nil || m.Label == "" {
					continue
				}
				for _, v := range m.Values {
					if !slices.ContainsFunc(zero.points(m.Name), func(p point) bool {
						have, _ := p.attrs.Value(attribute.Key(m.Label))
						return have.AsString() == v && p.n == 0
					}) {
						t.Errorf("%s{%s=%q} is not there at 0", m.Name, m.Label, v)
					}
				}
			}
			ev.BatchEnd(context.Background(), batch(3))
			all := collect(t, r)
			for _, m := range meter.Catalogue {
				got, ok := all[m.Name]
				if !ok {
					t.Errorf("%s is missing", m.Name)
					continue
				}
				if got.Unit != m.Unit || got.Description != m.Help {
					t.Errorf("%s: unit %q, description %q", m.Name, got.Unit, got.Description)
				}
				delete(all, m.Name)
			}
			for name := range all {
				t.Errorf("%s is not in the catalogue", name)
			}
			_ = ev
		})
	}
}

func TestBothWaysAgree(t *testing.T) {
	var results []collected
	for _, w := range ways {
		o, r := w.start(otelpipe.WithCommandNames(), otelpipe.WithDBConventions())
		ev := attach(o, "p")
		ctx := context.Background()
		for i := range 50 {
			b := batch(i+1, "get", "set", fmt.Sprintf("raw%d", i))
			b.RoundTrip = time.Duration(i) * time.Millisecond
			b.Commands[0].Outcome, b.Commands[0].Err = telemetry.OutcomeNil, redis.Nil
			if i > 2 {
				b.Commands[1].Outcome, b.Commands[1].Err = telemetry.OutcomeTransportError, io.EOF
				b.Commands[2].Again = true
			}
			b.Node = fmt.Sprintf("127.0.0.1:%d", 7000+i%3)
			ev.BatchEnd(ctx, b)
			ev.Direct(ctx, &telemetry.Direct{Name: "blpop", Reason: telemetry.DirectBlocking, Duration: time.Second})
			ev.Drop(ctx, &telemetry.Drop{Name: "get", Outcome: telemetry.OutcomeCancelled, Waited: time.Second})
		}
		results = append(results, collect(t, r))
	}
	for _, m := range meter.Catalogue {
		index := func(c collected) map[attribute.Distinct]point {
			ix := map[attribute.Distinct]point{}
			for _, p := range c.points(m.Name) {
				if m.Kind != meter.Histogram || p.n > 0 { // an instrument has no series before its first value
					ix[p.attrs.Equivalent()] = p
				}
			}
			return ix
		}
		a, b := index(results[0]), index(results[1])
		if len(a) != len(b) {
			t.Errorf("%s: %d and %d points", m.Name, len(a), len(b))
		}
		for k, p := range a {
			q := b[k]
			if p.n != q.n || p.sum-q.sum > 1e-6 || q.sum-p.sum > 1e-6 {
				t.Errorf("%s %v: %g (sum %g) and %g (sum %g)", m.Name, p.attrs.ToSlice(), p.n, p.sum, q.n, q.sum)
			}
		}
		if m.Layout != nil {
			if x, y := boundsOf(results[0][m.Name].Data), boundsOf(results[1][m.Name].Data); !slices.Equal(x, y) {
				t.Errorf("%s: bounds %v and %v", m.Name, x, y)
			}
		}
	}
}

func boundsOf(d metricdata.Aggregation) []float64 {
	switch d := d.(type) {
	case metricdata.Histogram[float64]:
		return d.DataPoints[0].Bounds
	case metricdata.Histogram[int64]:
		return d.DataPoints[0].Bounds
	}
	return nil
}

func TestDBConventions(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			o, r := w.start(otelpipe.WithDBConventions(), otelpipe.WithServer("redis.internal:6380"), otelpipe.WithDatabase(2))
			ev := attach(o, "p")
			b := batch(4, "get", "get", "lpush", "secret-name")
			b.Commands[1].Outcome, b.Commands[1].Err = telemetry.OutcomeNil, redis.Nil
			b.Commands[2].Outcome, b.Commands[2].Err = telemetry.OutcomeServerError, serverError("WRONGTYPE of secret-key")
			ev.BatchEnd(context.Background(), b)
			const name = "db.client.operation.duration"
			all := collect(t, r)
			if got := all.sum(name, "db.system.name", "redis", "db.namespace", "2", "server.address", "redis.internal"); got != 4 {
				t.Errorf("%g in all, want 4", got)
			}
			if got := all.sum(name, "db.operation.name", "GET", "error.type", ""); got != 2 {
				t.Errorf("GET without error: %g, want 2, nil included", got)
			}
			if got := all.sum(name, "db.operation.name", "LPUSH", "error.type", "WRONGTYPE", "db.response.status_code", "WRONGTYPE"); got != 1 {
				t.Errorf("LPUSH with WRONGTYPE: %g", got)
			}
			if got := all.sum(name, "db.operation.name", ""); got != 1 {
				t.Errorf("without a name: %g", got)
			}
			for _, p := range all.points(name) {
				if v, ok := p.attrs.Value("server.port"); !ok || v.AsInt64() != 6380 {
					t.Errorf("server.port %v", v)
				}
			}
		})
	}
}

type serverError string

func (e serverError) Error() string { return string(e) }
func (serverError) RedisError()     {}

func TestProducerExemplars(t *testing.T) {
	p, r := ways[0].start(otelpipe.WithExemplars())
	ev := attach(p, "p")
	b := batch(3)
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	b.Commands[1].Context = trace.ContextWithSpanContext(context.Background(), sc)
	ev.BatchEnd(context.Background(), b)
	d := collect(t, r)["autopipe.batch.duration"].Data.(metricdata.Histogram[float64])
	if ex := d.DataPoints[0].Exemplars; len(ex) != 1 || trace.TraceID(ex[0].TraceID) != sc.TraceID() || ex[0].Value != 200e-6 {
		t.Errorf("exemplars %+v", ex)
	}
}

func TestNilMeterProvider(t *testing.T) {
	ev := attach(otelpipe.New(otelpipe.WithMeterProvider(nil)), "p")
	if ev.BatchEnd != nil || ev.BatchStart != nil || ev.Direct != nil {
		t.Error("an observer with nothing to do asks for events")
	}
	attach(otelpipe.New(), "p").BatchEnd(context.Background(), batch(2)) // the global provider, which does nothing yet
}

func TestNoAllocations(t *testing.T) {
	cases := map[string]telemetry.Observer{}
	for _, w := range ways {
		cases[w.name], _ = w.start()
		cases[w.name+"/db"], _ = w.start(otelpipe.WithDBConventions(), otelpipe.WithCommandNames())
	}
	cases["noop"] = otelpipe.New(otelpipe.WithMeterProvider(noop.NewMeterProvider()))
	for name, o := range cases {
		ev := attach(o, "p")
		ctx := context.Background()
		one, many := batch(1), batch(100, "get", "set", "whatever")
		many.Commands[7].Outcome, many.Commands[7].Err = telemetry.OutcomeUncertain, errors.New("x")
		if n := testing.AllocsPerRun(200, func() {
			ev.BatchEnd(ctx, one)
			ev.BatchEnd(ctx, many)
		}); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

func BenchmarkBatchEnd(b *testing.B) {
	for _, w := range ways {
		for name, opts := range map[string][]otelpipe.Option{"plain": nil, "db": {otelpipe.WithDBConventions()}} {
			for _, size := range []int{1, 64, 512} {
				b.Run(fmt.Sprintf("%s/%s/%d", w.name, name, size), func(b *testing.B) {
					o, _ := w.start(opts...)
					ev := attach(o, "p")
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
}

func BenchmarkProduce(b *testing.B) {
	p := otelpipe.NewProducer()
	attach(p, "p").BatchEnd(context.Background(), batch(10))
	for b.Loop() {
		if _, err := p.Produce(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
