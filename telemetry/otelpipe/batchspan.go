package otelpipe

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// maxLinks bounds the links of a batch's span, as the SDK's default limit does.
const maxLinks = 128

// spanKey finds, in the context of a batch, the span that batchStart made for it: the batch's, or a lone command's.
type spanKey struct{}

func (s *spans) batchStart(ctx context.Context, b *telemetry.Batch) context.Context {
	var first trace.Span // of the sampled callers
	var links []trace.Link
	sampled := 0
	for i := range b.Commands {
		sc := trace.SpanContextFromContext(b.Commands[i].Context)
		if !sc.IsSampled() {
			continue
		}
		if sampled++; sampled == 1 {
			first = trace.SpanFromContext(b.Commands[i].Context)
			links = make([]trace.Link, 0, min(len(b.Commands)-i, maxLinks))
		}
		if len(links) < maxLinks {
			links = append(links, trace.Link{SpanContext: sc})
		}
	}
	if first == nil {
		return ctx
	}
	var span trace.Span
	if len(b.Commands) == 1 {
		ctx, span = s.command(ctx, b, &b.Commands[0])
	} else {
		name := batchName(b)
		kv := append(s.common(b.Pipe, b.Node), semconv.DBOperationName(name), semconv.DBOperationBatchSize(len(b.Commands)),
			keyFlush.String(b.Reason.String()), keyBytes.Int(b.Bytes), keySampled.Int(sampled))
		ctx, span = s.tracer.Start(trace.ContextWithSpan(ctx, first), name, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithTimestamp(b.Cut), trace.WithLinks(links...), trace.WithAttributes(kv...))
	}
	return context.WithValue(ctx, spanKey{}, span)
}

// batchName is PIPELINE GET if all commands are GET, else PIPELINE.
func batchName(b *telemetry.Batch) string {
	name := b.Commands[0].Name
	for i := range b.Commands {
		if b.Commands[i].Name != name {
			return "PIPELINE"
		}
	}
	if name = meter.CommandName(name); name == "" {
		return "PIPELINE"
	}
	return "PIPELINE " + name
}

// command starts the span of one command of a batch, at the time its caller's call began.
func (s *spans) command(ctx context.Context, b *telemetry.Batch, c *telemetry.Command, links ...trace.Link) (context.Context, trace.Span) {
	start := c.Start
	if start.IsZero() {
		start = b.Cut.Add(-c.Wait)
	}
	name := meter.CommandName(c.Name)
	kv := append(s.common(b.Pipe, b.Node), keyWait.Float64(c.Wait.Seconds()), keyFlush.String(b.Reason.String()),
		keySize.Int(len(b.Commands)), keyAttempt.Int(c.Attempt))
	if name != "" {
		kv = append(kv, semconv.DBOperationName(name))
	}
	return s.tracer.Start(ctx, spanName(name), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(start), trace.WithLinks(links...), trace.WithAttributes(kv...))
}

func (s *spans) batchEnd(ctx context.Context, b *telemetry.Batch) {
	span, ok := ctx.Value(spanKey{}).(trace.Span)
	if !ok {
		return
	}
	done := b.Cut.Add(b.RoundTrip)
	if len(b.Commands) == 1 {
		c := &b.Commands[0]
		if c.Again {
			span.SetAttributes(keyAgain.Bool(true))
		}
		end(span, c.Outcome, commandErr(c), commandEnd(b, c, done))
		return
	}
	link := trace.Link{SpanContext: span.SpanContext()}
	for i := range b.Commands {
		c := &b.Commands[i]
		if c.Again || !trace.SpanContextFromContext(c.Context).IsSampled() {
			continue
		}
		_, cmd := s.command(c.Context, b, c, link)
		end(cmd, c.Outcome, commandErr(c), commandEnd(b, c, done))
	}
	fail(span, b.Err)
	span.End(trace.WithTimestamp(done))
}

// commandErr is the error that the command's caller saw. What the batch met after a caller left is not it.
func commandErr(c *telemetry.Command) error {
	if c.Left {
		return c.Context.Err()
	}
	return c.Err
}

// commandEnd is when a command ended for its caller, who may have left before the batch was done.
func commandEnd(b *telemetry.Batch, c *telemetry.Command, done time.Time) time.Time {
	if !c.Left || c.Duration <= 0 {
		return done
	}
	start := c.Start
	if start.IsZero() {
		start = b.Cut.Add(-c.Wait)
	}
	return start.Add(c.Duration)
}

// fail marks a span whose connection broke. A server's error to one command is that command's alone.
func fail(span trace.Span, err error) {
	var re redis.Error
	if err == nil || errors.As(err, &re) {
		return
	}
	typ := meter.Breakage(err)
	span.SetAttributes(attribute.String(string(semconv.ErrorTypeKey), typ))
	span.SetStatus(codes.Error, typ)
}
