package autopipe

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// unit is what travels without a goroutine of its own waiting: one submitted command, or the commands of a window or of
// a merged pipeline, which keep their order and share one batch. Its commands become calls when a batch takes it (load),
// and get their results when somebody waits (deliver).
type unit struct {
	node  node
	lane  *lane
	ctx   context.Context           // ends it while it is queued
	start time.Duration             // when it was submitted, on the hook's clock, if somebody observes
	key   uint64                    // of its stream; 0 if its order does not matter
	relay redis.ProcessPipelineHook // sends it, if the lane has no chain (Attach)

	cargo

	state  atomic.Uint32          // as single.state, for all its calls together
	gone   bool                   // as call.gone
	apart  bool                   // holds commands that must not share: it is sent by itself, as an explicit pipeline is
	bound  bool                   // its owner waits and cannot leave: whoever ends the unit delivers
	reason telemetry.DirectReason // why it is apart, if it is one command

	mu        sync.Mutex
	done      chan struct{} // made when somebody asks; closed when ended
	ended     bool
	stays     bool // somebody waits for it who cannot leave
	concluded bool // somebody has the results
}

// submit puts a unit on its way without waiting for it. A full queue refuses it, or with WithBlockOnFull is waited for.
func (l *lane) submit(u *unit) error {
	if err := l.lockWithRoom(u.ctx, u.node.n); err != nil {
		return err
	}
	l.start(u)
	return nil
}

// settleUnit ends a unit whose batch is back. It reports false if some of its commands have to be sent again.
func (l *lane) settleUnit(u *unit) bool {
	if !slices.ContainsFunc(u.todo, func(c *call) bool { return c.again }) {
		l.endUnit(u)
		return true
	}
	u.keep()
	u.pause = l.h.backoff(int(u.todo[0].attempt))
	u.node.n, u.node.bytes = len(u.todo), 0
	for _, c := range u.todo {
		l.tellRetry(c, u.pause)
		u.node.bytes += c.size
		c.rearm()
		c.attempt++
	}
	u.state.Store(waiting) // so that a caller can leave during the pause
	return false
}

// sendAgain queues units once more after their pause, in the order in which they stood in their batch.
func (l *lane) sendAgain(units []*unit) {
	l.mu.Lock()
	units = slices.DeleteFunc(units, l.stepBack)
	l.mu.Unlock()
	for _, u := range units {
		time.AfterFunc(u.pause, func() {
			l.mu.Lock()
			l.q.push(&u.node)
			for _, c := range u.todo {
				c.admitted = l.now()
			}
			l.kick(telemetry.FlushIdle)
		})
	}
}

// endUnit marks a unit as finished, wakes those that wait for it, and lets the next of its stream go.
func (l *lane) endUnit(u *unit) {
	u.collect()
	if u.bound {
		u.deliver()
	}
	u.mu.Lock()
	u.ended = true
	done := u.done
	u.mu.Unlock()
	if done != nil {
		close(done)
	}
	l.leftStream(u)
}

// cancel ends a unit that was taken from the queue because its context had ended.
func (l *lane) cancel(u *unit) {
	if u.state.CompareAndSwap(waiting, settled) { // else its caller has left, and counted it
		u.loadOwn()
		for _, c := range u.todo {
			c.err = l.drop(u.ctx, c.cmd, telemetry.OutcomeCancelled, false, u.start, u.ctx.Err())
		}
	}
	l.endUnit(u)
}

// withdraw takes a unit back that is still queued; it reports false if it is not.
func (l *lane) withdraw(u *unit) bool {
	l.mu.Lock()
	if !u.node.queued {
		l.mu.Unlock()
		return false
	}
	l.q.remove(&u.node)
	l.admitBlocked()
	l.mu.Unlock()
	l.cancel(u)
	return true
}

// runApart sends a unit as an explicit pipeline, or its one command directly: it holds commands that must not share.
func (l *lane) runApart(u *unit) {
	calls := u.calls
	defer func() {
		// Nobody waits in this goroutine: a panic in a hook is repeated where the result is waited for.
		if v := recover(); v != nil {
			calls[0].fault = &fault{value: v}
			for i := range calls {
				calls[i].err = errAborted
			}
		}
		l.endUnit(u)
	}()
	if c := &calls[0]; len(calls) == 1 {
		c.err = errAborted
		if u.relay != nil {
			c.err = u.relay(u.ctx, []redis.Cmder{c.Cmder})
			return
		}
		c.err = l.direct(u.ctx, c.Cmder, c.info, c.reason)
		return
	}
	cmds := make([]redis.Cmder, len(calls))
	for i := range calls {
		calls[i].err = errAborted
		cmds[i] = calls[i].Cmder
	}
	var err error
	if u.relay != nil {
		err = u.relay(u.ctx, cmds)
	} else {
		err = l.h.pipeline(u.ctx, l.chain.Pipeline, cmds, false)
	}
	failed := false
	for i, cmd := range cmds {
		calls[i].err = cmd.Err()
		failed = failed || cmd.Err() != nil
	}
	if err != nil && !failed { // refused before anything was tried
		for i := range calls {
			calls[i].err = err
		}
	}
}

// wake returns a channel that is closed when the unit has its outcome.
func (u *unit) wake() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done == nil {
		u.done = make(chan struct{})
		if u.ended {
			close(u.done)
		}
	}
	return u.done
}

// wait returns nil when the unit has its outcome and its commands hold their results, or ctx's error when that ends
// first.
func (u *unit) wait(ctx context.Context) error {
	if !u.watch(ctx) {
		done := u.wake()
		if ctx.Done() == nil && u.ctx.Done() == nil {
			<-done
			u.conclude()
			return nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			if u.ctx.Err() == nil || !u.lane.withdraw(u) {
				return ctx.Err()
			}
		case <-u.ctx.Done():
			if u.lane.withdraw(u) {
				break
			}
			select {
			case <-done:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	u.conclude()
	return nil
}

// watch reports whether the unit has its outcome. If not, it is noted that somebody waits, if ctx cannot end the wait.
func (u *unit) watch(ctx context.Context) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stays = u.stays || ctx.Done() == nil
	return u.ended
}

// conclude gives the owner its results, once. A fault is repeated by who is first.
func (u *unit) conclude() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.concluded {
		return
	}
	u.concluded = true
	u.deliver()
	if u.fault != nil {
		u.fault.repeat()
	}
}
