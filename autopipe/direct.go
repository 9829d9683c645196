package autopipe

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

type directKey struct{}

// directUsed spares programs that never call Direct the look into every command's context.
var directUsed atomic.Bool

// Direct returns a context whose commands go to the server directly, around batches, as on a client without the hook:
// for a call that must not wait for others, or a measurement. They are counted as telemetry.DirectExcluded. To exclude a
// command everywhere, see WithDirect.
func Direct(ctx context.Context) context.Context {
	directUsed.Store(true)
	return context.WithValue(ctx, directKey{}, true)
}

func optedOut(ctx context.Context) bool {
	return directUsed.Load() && ctx.Value(directKey{}) != nil
}

// direct sends a command on its own, without the queue.
func (l *lane) direct(ctx context.Context, cmd redis.Cmder, info *command.Info, reason telemetry.DirectReason) error {
	next := l.chain.Process
	if l.guarded(cmd, info, reason) {
		next = func(ctx context.Context, cmd redis.Cmder) error { return l.sole(ctx, cmd, info) }
	}
	return l.h.around(ctx, next, l.node, cmd, reason)
}

// guarded reports whether WithRetry's policy is kept for a direct command: go-redis must not send it twice by itself. The
// other direct commands need go-redis to see the command itself, and not a stand-in.
func (l *lane) guarded(cmd redis.Cmder, info *command.Info, reason telemetry.DirectReason) bool {
	switch reason {
	case telemetry.DirectLarge, telemetry.DirectEncoder, telemetry.DirectExcluded, telemetry.DirectBlocking:
	case telemetry.DirectModule, telemetry.DirectUnknown:
		if l.where() == hook.Several { // may be sent to several nodes
			return false
		}
	default:
		return false
	}
	return l.h.cfg.retry != RetryLikeGoRedis && l.chain.Whole() && command.CanClone(cmd) && (info == nil || !info.Replayable(cmd))
}

// sole sends a direct command as a stand-in, again only where the policy allows it.
func (l *lane) sole(ctx context.Context, cmd redis.Cmder, info *command.Info) error {
	c := &call{}
	c.begin(l.h, ctx, cmd, info, 0)
	for {
		c.attempt++
		c.err = l.chain.Process(ctx, c)
		c.replied = isReply(c.err)
		l.decide(c, true)
		if !c.again {
			return c.err
		}
		l.h.count.retries[c.cause].Add(1)
		wait := l.h.backoff(int(c.attempt))
		l.tellRetry(c, wait)
		if err := pause(ctx, wait); err != nil {
			return err
		}
		c.rearm()
	}
}

// around sends a command by next, and counts it as a direct one.
func (h *Hook) around(ctx context.Context, next redis.ProcessHook, node string, cmd redis.Cmder, reason telemetry.DirectReason) error {
	outcome := telemetry.OutcomeTransportError // until next returns: it may panic
	var start time.Time
	if h.observed {
		start = time.Now()
	}
	var err error
	defer func() {
		h.count.direct[reason].Add(1)
		passed := false
		if node != "" && outcome != telemetry.OutcomeCancelled {
			// The cluster client above may try again; what it gives up is counted there.
			_, passed = passedUp(ctx, err)
			passed = passed && err != nil
		}
		if !passed {
			h.count.outcome[outcome].Add(1)
		}
		if h.observed {
			h.events.direct(ctx, &telemetry.Direct{
				Pipe: h.cfg.name, Node: node, Name: cmd.Name(), Reason: reason,
				Start: start, Duration: time.Since(start), Outcome: outcome, Again: passed, Err: err,
			})
		}
	}()
	err = next(ctx, cmd)
	switch {
	case err == nil:
		outcome = telemetry.OutcomeOK
	case errors.Is(err, redis.Nil):
		outcome = telemetry.OutcomeNil
	case isReply(err):
		outcome = telemetry.OutcomeServerError
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		outcome = telemetry.OutcomeCancelled
	case errors.As(err, new(*UncertainError)):
		outcome = telemetry.OutcomeUncertain
	}
	if node != "" && outcome == telemetry.OutcomeCancelled && !errors.As(err, new(*sealedError)) {
		return &sealedError{err}
	}
	return err
}
