package autopipe

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// process is the way of one command through the hook.
//
// Callers wait in this frame, and hundreds of them do: all that is not needed while they wait is done in frames that are
// gone by then. Each cache line of stack less is one less that a processor has to fetch when a caller goes on.
func (l *lane) process(ctx context.Context, cmd redis.Cmder) error {
	c, err := l.admit(ctx, cmd)
	if c == nil {
		return err
	}
	queued, err := l.send(c)
	switch {
	case !queued:
	case ctx.Done() == nil:
		<-c.done
	default:
		err = l.wait(c)
	}
	return l.finish(c, err)
}

// admit makes a call for a command that may share a batch. Others it sends directly, and returns how they ended.
func (l *lane) admit(ctx context.Context, cmd redis.Cmder) (*single, error) {
	if l.topology.Load() == 0 {
		l.locate(hook.CallerTopology())
	}
	if s, ok := cmd.(*submission); ok {
		if l.where() != hook.Sticky {
			return nil, l.take(ctx, s, s.unit.cmd[:])
		}
		cmd = s.Cmder // a Conn is one goroutine's, which may close it next: as on a client without the hook
	}
	class, info := l.classify(cmd)
	size, form, reason, shared := l.fit(cmd, class, info)
	if shared && optedOut(ctx) {
		reason, shared = telemetry.DirectExcluded, false
	}
	if l.routed && upkeep(cmd) {
		return nil, l.chain.Process(ctx, cmd)
	}
	if !shared {
		return nil, l.direct(ctx, cmd, info, reason)
	}
	if err := ctx.Err(); err != nil {
		return nil, l.drop(ctx, cmd, telemetry.OutcomeCancelled, false, 0, err)
	}
	// Whoever has a Conn or Tx may close it as soon as its command has returned, and go-redis does not let a Close meet a
	// command on its way. So there the caller stays until the reply, as it would without us.
	mayLeave := ctx.Done() != nil && l.where() != hook.Sticky
	c, err := l.h.newCall(ctx, cmd, info, size, form, mayLeave)
	if err != nil {
		return nil, l.unencodable(ctx, cmd, err)
	}
	start := l.now()
	if c.leaves {
		start = l.h.now() // for the error that it may return
	}
	c.start, c.admitted = start, start
	return c, nil
}

func (l *lane) classify(cmd redis.Cmder) (hook.Class, *command.Info) {
	return l.h.classes.Classify(cmd, l.where())
}

// fit measures a command and says whether it may share a batch, and if not, why.
func (l *lane) fit(cmd redis.Cmder, class hook.Class, info *command.Info) (size int, form hook.Form, why telemetry.DirectReason, shared bool) {
	size, form = hook.Measure(cmd.Args())
	switch {
	case class != hook.Shared:
		return size, form, directReason[class], false
	case !l.chain.Whole(): // a wrapper around our hook forwarded only some of its methods
		return size, form, telemetry.DirectUnpaired, false
	case l.h.tracking.Load() && info != nil && info.Has(command.ReadOnly):
		return size, form, telemetry.DirectCacheable, false
	case form&hook.Unencodable != 0, form&hook.UserCode != 0 && !command.CanClone(cmd):
		return size, form, telemetry.DirectEncoder, false
	case size > l.h.cfg.maxBatchBytes/largePart:
		return size, form, telemetry.DirectLarge, false
	}
	return size, form, 0, true
}

// finish returns the command's error when its call is settled or has failed with err, after it was sent again if it has to
// be.
func (l *lane) finish(c *single, err error) error {
	for err == nil && c.again {
		if err = l.pauseAgain(c); err != nil {
			break
		}
		var queued bool
		if queued, err = l.send(c); queued {
			err = l.wait(c)
		}
	}
	if err != nil {
		return l.failed(c, err)
	}
	f := c.fault
	c.copyBack()
	err = c.err
	l.h.free(c)
	if f != nil {
		f.repeat()
	}
	return err
}

// failed ends a call that was left behind, refused, or given up between two sendings, and counts it.
func (l *lane) failed(c *single, err error) error {
	ctx, cmd, start := c.ctx, c.cmd, c.start // these never change, even if the call is its batch's now
	if left, ok := err.(*leftError); ok {
		return l.drop(ctx, cmd, telemetry.OutcomeCancelled, left.inFlight, start, l.explain(left, cmd, start))
	}
	outcome := telemetry.OutcomeRejected
	if c.again {
		outcome = telemetry.OutcomeCancelled
	}
	l.h.free(c)
	return l.drop(ctx, cmd, outcome, false, start, err)
}

// pauseAgain waits before a call is sent again, and makes it ready.
func (l *lane) pauseAgain(c *single) error {
	wait := l.h.backoff(int(c.attempt))
	l.tellRetry(&c.call, wait)
	if err := pause(c.ctx, wait); err != nil {
		return err
	}
	c.rearm()
	c.admitted = l.now()
	c.state.Store(waiting)
	return nil
}

// unencodable counts a command whose argument's MarshalBinary returned an error: it went nowhere.
func (l *lane) unencodable(ctx context.Context, cmd redis.Cmder, err error) error {
	return l.h.around(ctx, func(context.Context, redis.Cmder) error { return err }, l.node, cmd, telemetry.DirectEncoder)
}
