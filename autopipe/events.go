package autopipe

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// events calls the functions that the observers asked for, each kind in the order the observers were given.
type events struct{ all []telemetry.Events }

func (e *events) add(ev telemetry.Events) { e.all = append(e.all, ev) }

func (e *events) batchStart(ctx context.Context, b *telemetry.Batch) context.Context {
	for i := range e.all {
		if f := e.all[i].BatchStart; f != nil {
			ctx = f(ctx, b)
		}
	}
	return ctx
}

func (e *events) batchEnd(ctx context.Context, b *telemetry.Batch) {
	for i := range e.all {
		if f := e.all[i].BatchEnd; f != nil {
			f(ctx, b)
		}
	}
}

func (e *events) direct(ctx context.Context, d *telemetry.Direct) {
	for i := range e.all {
		if f := e.all[i].Direct; f != nil {
			f(ctx, d)
		}
	}
}

func (e *events) retry(ctx context.Context, r *telemetry.Retry) {
	for i := range e.all {
		if f := e.all[i].Retry; f != nil {
			f(ctx, r)
		}
	}
}

// tellRetry reports that a call will be sent again after a pause.
func (l *lane) tellRetry(c *call, pause time.Duration) {
	if l.h.observed {
		l.h.events.retry(c.ctx, &telemetry.Retry{
			Pipe: l.h.cfg.name, Node: l.node, Name: c.cmd.Name(), Cause: c.cause, Attempt: int(c.attempt) + 1, Backoff: pause,
		})
	}
}

func (e *events) pipeline(ctx context.Context, p *telemetry.Pipeline) {
	for i := range e.all {
		if f := e.all[i].Pipeline; f != nil {
			f(ctx, p)
		}
	}
}

func (e *events) drop(ctx context.Context, d *telemetry.Drop) {
	for i := range e.all {
		if f := e.all[i].Drop; f != nil {
			f(ctx, d)
		}
	}
}

// drop counts and reports a command whose caller gets no reply, and returns err for it, sealed if need be.
func (l *lane) drop(ctx context.Context, cmd redis.Cmder, o telemetry.Outcome, inFlight bool, since time.Duration, err error) error {
	l.h.count.outcome[o].Add(1)
	if l.h.observed {
		d := telemetry.Drop{Pipe: l.h.cfg.name, Node: l.node, Name: cmd.Name(), Outcome: o, InFlight: inFlight}
		if since > 0 {
			d.Waited = l.h.now() - since
		}
		l.h.events.drop(ctx, &d)
	}
	return l.seal(err)
}
