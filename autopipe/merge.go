package autopipe

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// merge sends an explicit pipeline as a unit of the lane and waits for it. It reports false if the pipeline has to pass
// as it is, since it holds a command that must not share or is larger than a batch.
func (l *lane) merge(ctx context.Context, cmds []redis.Cmder) (merged bool, err error) {
	if len(cmds) > l.h.cfg.maxBatch || ctx.Err() != nil {
		return false, nil
	}
	total := 0
	for _, cmd := range cmds {
		class, info := l.classify(cmd)
		size, _, _, shared := l.fit(cmd, class, info)
		if total += size; !shared || total > l.h.cfg.maxBatchBytes {
			return false, nil
		}
	}
	u := &unit{}
	if err := u.prepare(l, ctx, cmds, 0); err != nil {
		return false, nil // go-redis meets the same error, and knows what to do with it
	}
	if ctx.Done() == nil {
		u.stays = true
	} else {
		u.loadOwn() // now: once the caller has left, its commands are its own
	}
	if err := l.submit(u); err != nil {
		outcome := telemetry.OutcomeRejected
		if err != ErrQueueFull {
			err, outcome = ctx.Err(), telemetry.OutcomeCancelled
		}
		for _, cmd := range cmds {
			cmd.SetErr(l.drop(ctx, cmd, outcome, false, u.start, err))
		}
		return true, err
	}
	if err := u.wait(ctx); err != nil {
		// The caller leaves while its commands are in flight. If their outcome came at this very moment, take it.
		if u.state.CompareAndSwap(waiting, abandoned) {
			for _, cmd := range cmds {
				cmd.SetErr(l.drop(ctx, cmd, telemetry.OutcomeCancelled, true, u.start, err))
			}
			return true, err
		}
		_ = u.wait(context.Background())
	}
	return true, u.err
}
