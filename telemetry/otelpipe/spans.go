package otelpipe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// spans makes the spans of traces that autopipe's callers are in. Their shape, for three callers of whom two (A and B)
// are sampled:
//
//	A's span
//	├── PIPELINE GET    the batch of three, from the cut to the last reply; links to A's and B's spans
//	│   └── ...         whatever hooks added after autopipe make
//	└── GET             A's command as A saw it, queue included; links to the batch
//	B's span
//	└── GET             links to the batch
//
// The batch is a child of its first sampled caller, not a root: a root would be sampled by chance, independent of its
// callers, and so mostly miss, or under an always-on sampler make a storm of roots. In a trace view, A's trace shows the
// whole and B's leads to it by the link.
//
// A lone command has its own span and no other; what later hooks make is below it. Should it fail and be sent again,
// each sending of it that went alone has a span, with autopipe.again on all but the last.
type spans struct {
	cfg    *config
	tracer trace.Tracer
	known  table[string, []attribute.KeyValue] // by node: the attributes that all spans of a node share
	nodes  nodeSet
}

func newSpans(cfg *config) *spans {
	return &spans{cfg: cfg, tracer: cfg.tracers.Tracer(scope, trace.WithInstrumentationVersion(meter.Version()),
		trace.WithSchemaURL(semconv.SchemaURL))}
}

func (s *spans) attach() telemetry.Events {
	return telemetry.Events{
		BatchStart: s.batchStart, BatchEnd: s.batchEnd, Direct: s.direct, Drop: s.drop, Pipeline: s.pipeline,
	}
}

// The attributes of our own. Durations are in seconds.
const (
	keyPipe    = attribute.Key("autopipe.pipe")
	keyOutcome = attribute.Key("autopipe.outcome")
	keyWait    = attribute.Key("autopipe.queue.wait")
	keyFlush   = attribute.Key("autopipe.flush.reason")
	keyDirect  = attribute.Key("autopipe.direct.reason")
	keySize    = attribute.Key("autopipe.batch.size")
	keyBytes   = attribute.Key("autopipe.batch.bytes")
	keyAttempt = attribute.Key("autopipe.attempts")
	keyAgain   = attribute.Key("autopipe.again")
	keySampled = attribute.Key("autopipe.batch.sampled_callers")
)

// common are the attributes of every span of a node, and room for more.
func (s *spans) common(pipe, node string) []attribute.KeyValue {
	node = s.nodes.bound(node)
	shared := s.known.get(node, func(node string) []attribute.KeyValue {
		return append(append([]attribute.KeyValue{}, s.cfg.attributes...), s.cfg.server(node)...)
	})
	kv := make([]attribute.KeyValue, 0, len(shared)+10)
	return append(append(kv, shared...), keyPipe.String(pipe))
}

// fallback names the span of a command that is not in the command table: its name could be anything.
const fallback = "redis"

func spanName(command string) string {
	if command == "" {
		return fallback
	}
	return command
}

// end completes a span of one command.
func end(span trace.Span, o telemetry.Outcome, err error, at time.Time) {
	span.SetAttributes(keyOutcome.String(o.String()))
	if typ, code := meter.ErrorType(o, err); typ != "" {
		span.SetAttributes(semconv.ErrorTypeKey.String(typ))
		if code != "" {
			span.SetAttributes(semconv.DBResponseStatusCode(code))
		}
		span.SetStatus(codes.Error, typ) // not the error's text, in which Redis may quote arguments
	}
	span.End(trace.WithTimestamp(at))
}

// direct makes the span of a command that went alone, after it returned.
func (s *spans) direct(ctx context.Context, d *telemetry.Direct) {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return
	}
	name := meter.CommandName(d.Name)
	kv := append(s.common(d.Pipe, d.Node), keyDirect.String(d.Reason.String()))
	if name != "" {
		kv = append(kv, semconv.DBOperationName(name))
	}
	_, span := s.tracer.Start(ctx, spanName(name), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(d.Start), trace.WithAttributes(kv...))
	end(span, d.Outcome, d.Err, d.Start.Add(d.Duration))
}

// drop makes the span of a command that ended outside of a batch: it was never sent, or a cluster client gave up on it.
// One whose caller left while it was in flight has its span from its batch.
func (s *spans) drop(ctx context.Context, d *telemetry.Drop) {
	if d.InFlight && d.Outcome == telemetry.OutcomeCancelled || !trace.SpanContextFromContext(ctx).IsSampled() {
		return
	}
	name := meter.CommandName(d.Name)
	kv := s.common(d.Pipe, d.Node)
	if name != "" {
		kv = append(kv, semconv.DBOperationName(name))
	}
	now := time.Now()
	_, span := s.tracer.Start(ctx, spanName(name), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(now.Add(-d.Waited)), trace.WithAttributes(kv...))
	end(span, d.Outcome, ctx.Err(), now)
}

// pipeline makes the span of an explicit pipeline, after it returned.
func (s *spans) pipeline(ctx context.Context, p *telemetry.Pipeline) {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return
	}
	name := "PIPELINE"
	if p.Tx {
		name = "MULTI"
	}
	kv := append(s.common(p.Pipe, p.Node), semconv.DBOperationName(name))
	if p.Size > 1 {
		kv = append(kv, semconv.DBOperationBatchSize(p.Size))
	}
	_, span := s.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(p.Start), trace.WithAttributes(kv...))
	fail(span, p.Err)
	span.End(trace.WithTimestamp(p.Start.Add(p.Duration)))
}
