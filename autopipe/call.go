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
// lane learns this command's own outcome.
//
// The fields are in the order in which they are used together: with thousands of callers, what is touched per command is
// what it costs.
type call struct {
	redis.Cmder             // what go-redis writes and reads: cmd itself, or a copy of it
	cmd         redis.Cmder // the caller's command

	// How this sending ended. Written by the goroutine that runs the batch; the caller's once settled.
	err   error
	fault *fault // a panic or Goexit that the caller is to repeat
	verdict
	gone    bool // the caller had left when the batch came to settle
	written bool // somebody asked for the arguments: it may have been sent
	replied bool // err is the server's own answer

	sampled bool                   // its wait in the queue goes into Stats
	pinned  bool                   // Cmder is cmd itself: the caller must stay until it is no longer in use
	leaves  bool                   // the caller goes when its context ends, reply or not
	replays bool                   // RetryLikeGoRedis: go-redis may send it again itself
	reason  telemetry.DirectReason // why it must not share, if its unit is to travel apart
	attempt int32                  // sendings so far, this one included

	// Whose call it is: a caller that waits for it, or a unit.
	single *single
	unit   *unit

	size int // approximate request bytes
	info *command.Info
	ctx  context.Context
	args []any // what is sent, where the copy's own arguments are not safe to use

	// On the hook's clock, and only if somebody observes.
	start    time.Duration // of the caller's call
	admitted time.Duration // for this sending
	left     time.Duration // when the caller went away; valid if it is gone
}

// verdict is what follows from the end of one sending.
type verdict struct {
	outcome telemetry.Outcome
	cause   telemetry.RetryCause
	again   bool // send it once more, because of cause
	passed  bool // the client above will send it once more, because of cause
}

// single is a call whose caller waits for it.
type single struct {
	call

	// state settles the race between a caller that leaves and the batch that delivers: waiting goes to abandoned
	// or to settled, once. An abandoned call belongs to its batch alone. A settled one is its caller's as soon as
	// done has the token.
	state atomic.Uint32
	done  chan struct{}
	node  node

	// Memory for the copy in which the command may travel, kept when the call is pooled.
	argMem []any
	copies copies
}

const (
	waiting uint32 = iota
	abandoned
	settled
)

// newCall prepares cmd for sending by a caller that will wait for it. A command whose caller may leave while it is in
// flight, or with an argument whose encoding runs user code, travels as a copy: the late reply then meets no reader, and a
// failing or panicking MarshalBinary happens here, on its caller's goroutine, and hurts nobody else.
func (h *Hook) newCall(ctx context.Context, cmd redis.Cmder, info *command.Info, size int, form hook.Form, mayLeave bool) (*single, error) {
	s, ok := h.calls.Get().(*single)
	if !ok {
		s = &single{done: make(chan struct{}, 1)}
		s.node.single = s
	}
	s.begin(h, ctx, cmd, info, size)
	s.single = s
	if (mayLeave || form&hook.UserCode != 0) && command.CanClone(cmd) {
		if err := s.detach(form); err != nil {
			h.free(s)
			return nil, err
		}
		s.leaves = mayLeave
	}
	s.node.n, s.node.bytes = 1, s.size
	return s, nil
}

func (c *call) begin(h *Hook, ctx context.Context, cmd redis.Cmder, info *command.Info, size int) {
	c.Cmder, c.cmd, c.ctx, c.info, c.size, c.pinned = cmd, cmd, ctx, info, size, true
	c.replays = h.cfg.retry == RetryLikeGoRedis
	if cmd.Err() != nil { // its owner has used it before; see rearm
		cmd.SetErr(nil)
	}
}

// detach lets a copy of the command travel.
func (s *single) detach(form hook.Form) error {
	s.pinned = false
	if form&(hook.Refs|hook.UserCode) == 0 {
		s.argMem = append(s.argMem[:0], s.cmd.Args()...) // the caller may use its slice again
		s.args, s.Cmder = s.argMem, s.copies.of(s.cmd, 1)
		return nil
	}
	// The frozen arguments have to be the copy's very own: go-redis looks for keys in them, and String prints them.
	s.Cmder = s.cmd.Clone()
	args := s.Cmder.Args()
	if err := hook.Freeze(args); err != nil {
		return err
	}
	if form&hook.UserCode != 0 {
		s.size, _ = hook.Measure(args)
	}
	return nil
}

// free gives a call back to the pool. The caller must be the only one who knows it.
func (h *Hook) free(s *single) {
	if !s.pinned {
		s.copies.reset()
		clear(s.argMem)
	}
	s.call = call{}
	s.state.Store(waiting)
	h.calls.Put(s)
}

// rearm makes a settled call ready to be sent again.
func (c *call) rearm() {
	c.gone, c.written, c.replied, c.sampled, c.err, c.verdict, c.fault = false, false, false, false, nil, verdict{}, nil
	c.Cmder.SetErr(nil) // go-redis passes over commands that have an error when it stamps a failure on a pipeline
}

// NoRetry answers true, which keeps go-redis from sending the command again, alone or with its batch. Retries are
// decided per command when the outcome is known.
func (c *call) NoRetry() bool {
	return !c.replays || c.Cmder.NoRetry()
}

// Args are the command's arguments as they are sent. Who asks is go-redis, about to write them, or a hook behind ours:
// if nobody has asked, the command was certainly not sent.
func (c *call) Args() []any {
	c.written = true
	if c.args != nil {
		return c.args
	}
	return c.Cmder.Args()
}

// SetErr records how the command ended. go-redis's pipeline code calls it once for each reply it reads and then, if the
// connection breaks, once more for commands whose error is nil, which includes those that were answered. So a failure
// never replaces an answer.
func (c *call) SetErr(err error) {
	switch {
	case isReply(err):
		c.replied = true
	case c.replays: // go-redis sends again itself: its last sending counts
		c.replied = false
	case c.replied:
		return
	}
	c.err = err
	c.Cmder.SetErr(err)
}

// name is the command's name. The table's is the same, and spares a look at the arguments, which are in another
// processor's cache.
func (c *call) name() string {
	if c.info != nil {
		return c.info.Name
	}
	return c.cmd.Name()
}

// claim takes the call's outcome for its caller; it reports false if the caller has left.
func (c *call) claim() bool {
	if s := c.single; s != nil {
		return s.state.CompareAndSwap(waiting, settled)
	}
	u := c.unit
	if c == u.todo[0] {
		u.gone = !u.state.CompareAndSwap(waiting, settled)
	}
	return !u.gone
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
