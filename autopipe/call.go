package autopipe

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// call is one command on its way. It embeds the command and stands in for it in go-redis's pipeline code, where it
// differs in two points: it says NoRetry, so that go-redis never sends a batch twice, and it takes SetErr, so that the
// lane learns this command's own outcome. If it is a copy that travels, its arguments are the call's.
type call struct {
	redis.Cmder             // what go-redis writes and reads: cmd itself, or a copy of it
	cmd         redis.Cmder // the caller's command
	info        *command.Info
	ctx         context.Context
	size        int  // approximate request bytes
	attempt     int  // sendings so far, this one included
	replays     bool // RetryLikeGoRedis: go-redis may send it again itself
	pinned      bool // Cmder is cmd itself: the caller must stay until it is no longer in use
	unit        *unit
	reason      telemetry.DirectReason // why it must not share, if its unit is to travel apart

	// The queue's; guarded by lane.mu.
	next, prev *call
	queued     bool
	admitted   time.Time // only if somebody observes

	// state settles the race between a caller that leaves and the batch that delivers: waiting goes to abandoned
	// or to settled, once. An abandoned call belongs to its batch alone. A settled one is its caller's as soon as
	// done has the token.
	state atomic.Uint32
	done  chan struct{}

	// If Cmder is a copy: its arguments, and the memory for it. Both stay with the call when it is pooled.
	args   []any
	copies copies

	// Written by the goroutine that runs the batch; the caller's once settled.
	gone    bool  // state was abandoned when the batch came to settle
	replied bool  // err is the server's own answer
	err     error // how this sending ended
	verdict
	fault *fault // a panic or Goexit that the caller is to repeat
}

const (
	waiting uint32 = iota
	abandoned
	settled
)

// verdict is what follows from the end of one sending.
type verdict struct {
	outcome telemetry.Outcome
	again   bool // send it once more, because of cause
	passed  bool // the client above will send it once more, because of cause
	cause   telemetry.RetryCause
}

// newCall prepares cmd for sending. A command whose caller does not wait (detach) or may leave while it is in flight, or with an argument whose
// encoding runs user code, travels as a copy: the late reply then meets no reader, and a failing or panicking
// MarshalBinary happens here, on its caller's goroutine, and hurts nobody else.
func (h *Hook) newCall(ctx context.Context, cmd redis.Cmder, info *command.Info, size int, form hook.Form, detach bool) (*call, error) {
	c, ok := h.calls.Get().(*call)
	if !ok {
		c = &call{done: make(chan struct{}, 1)}
	}
	c.Cmder, c.cmd, c.info, c.ctx, c.size, c.pinned = cmd, cmd, info, ctx, size, true
	c.replays = h.cfg.retry == RetryLikeGoRedis
	if (detach || ctx.Done() != nil || form&hook.UserCode != 0) && command.CanClone(cmd) {
		c.pinned = false
		c.args = append(c.args[:0], cmd.Args()...)
		if form&(hook.Refs|hook.UserCode) != 0 {
			if err := hook.Freeze(c.args); err != nil {
				return nil, err
			}
			if form&hook.UserCode != 0 {
				c.size, _ = hook.Measure(c.args)
			}
		}
		c.Cmder = c.copies.of(cmd)
	}
	return c, nil
}

// free gives a call back to the pool. The caller must be the only one who knows it.
func (h *Hook) free(c *call) {
	c.copies.clear(c.Cmder)
	clear(c.args)
	*c = call{done: c.done, args: c.args[:0], copies: c.copies} // nobody else knows it, so its state is at rest
	h.calls.Put(c)
}

// rearm makes a settled call ready to be sent again.
func (c *call) rearm() {
	c.state.Store(waiting)
	c.gone, c.replied, c.err, c.verdict, c.fault = false, false, nil, verdict{}, nil
}

// NoRetry answers true, which keeps go-redis from sending the command again, alone or with its batch. Retries are
// decided per command when the outcome is known.
func (c *call) NoRetry() bool {
	return !c.replays || c.Cmder.NoRetry()
}

// Args are the command's arguments as they are sent.
func (c *call) Args() []any {
	if c.pinned {
		return c.Cmder.Args()
	}
	return c.args
}

// SetErr records how the command ended. go-redis's pipeline code calls it once for each reply it reads and then, if the
// connection breaks, once more for commands whose error is nil, which includes those that were answered. So a failure
// never replaces an answer.
func (c *call) SetErr(err error) {
	if !c.replays {
		if isReply(err) {
			c.replied = true
		} else if c.replied {
			return
		}
	}
	c.err = err
	c.Cmder.SetErr(err)
}

// Unwrap returns the caller's own command for the stand-in that hooks added after autopipe see in its place, and cmd
// itself otherwise. Name, Args, FullName, String and Err work on a stand-in as on the command; a hook that switches on
// the command's type wants Unwrap. Stand-ins are valid until the hook's next has returned.
//
// The caller's command may be read by its own goroutine at any time: do not change it.
func Unwrap(cmd redis.Cmder) redis.Cmder {
	switch c := cmd.(type) {
	case *call:
		return c.cmd
	case *submission:
		return c.Cmder
	}
	return cmd
}
