package autopipe

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// Processor is any go-redis client: Client, ClusterClient, Ring, Conn, Tx, UniversalClient.
type Processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// Future is a command that has been submitted and whose result is read later.
type Future[C redis.Cmder] struct {
	cmd C
	s   submission
	u   unit
}

// Submit sends cmd through a client that has the hook and returns without waiting for the reply:
//
//	f := autopipe.Submit(ctx, rdb, redis.NewStringCmd(ctx, "get", "key"))
//	...
//	cmd, err := f.Wait(ctx)
//
// The command joins the batches of other callers and follows the same rules for retries and errors. While it is queued,
// the end of ctx cancels it. A command that may not share a batch (a blocking one, say) runs directly, in a goroutine of
// its own. A full queue makes the future fail with ErrQueueFull, or Submit wait if the hook has WithBlockOnFull. On a
// client without the hook, and on a Conn or Tx, which go with one goroutine, Submit runs the command at once and returns
// when it is done.
//
// Do not submit cmd twice, and read its result after Wait: before, it is the zero value. A []byte or pointer among its
// arguments may be used again when Submit returns, a slice given to redis.NewStringCmd(ctx, args...) when the command has
// run. Submitted commands are independent: they may run in any order. For an order see Window.
//
// Hooks added before autopipe see the command return at once, without its result.
func Submit[C redis.Cmder](ctx context.Context, client Processor, cmd C) *Future[C] {
	f := &Future[C]{cmd: cmd}
	f.s = submission{Cmder: cmd, unit: &f.u}
	_ = client.Process(ctx, &f.s) // without the hook: the error is on the command
	return f
}

// Wait returns the command and its error when it has run. If ctx ends first, it returns ctx's error and only the wait is
// over: the command goes on, and Wait may be called again. Several goroutines may wait; each reads the result after its own
// Wait.
//
// A panic in a hook behind autopipe is repeated by the first Wait.
func (f *Future[C]) Wait(ctx context.Context) (C, error) {
	if f.s.taken {
		if err := f.u.wait(ctx); err != nil {
			return f.cmd, err
		}
	}
	return f.cmd, f.cmd.Err()
}

// Done returns a channel that is closed when the command has run. The result is on the command after Wait, which then
// does not block.
func (f *Future[C]) Done() <-chan struct{} {
	if !f.s.taken {
		return closed
	}
	return f.u.wake()
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Result waits for the future of any command with a typed result and returns its value:
//
//	value, err := autopipe.Result(ctx, autopipe.Submit(ctx, rdb, redis.NewStringCmd(ctx, "get", "key")))
func Result[T any, C interface {
	redis.Cmder
	Result() (T, error)
}](ctx context.Context, f *Future[C]) (T, error) {
	cmd, err := f.Wait(ctx)
	if err != nil {
		var zero T
		return zero, err
	}
	return cmd.Result()
}

// submission carries a command, or the first of a window, through the client to the hook. A client without the hook
// runs it as the command itself.
type submission struct {
	redis.Cmder
	key   uint64 // of the stream
	unit  *unit  // memory for the hook that takes it
	taken bool

	topology uint32 // as lane.topology, if the client's type tells it
}

// SetErr belongs to the command, unless the hook has taken it: then Process's nil is not its outcome.
func (s *submission) SetErr(err error) {
	if !s.taken {
		s.Cmder.SetErr(err)
	}
}

// restore returns the commands that were submitted as a list that the unit may keep. cmds are the same, as they came
// through the client, which may want to use its list again; they begin with s.
func (s *submission) restore(cmds []redis.Cmder) []redis.Cmder {
	cmds[0] = s.Cmder
	switch {
	case len(cmds) == 1:
		s.unit.cmd[0] = s.Cmder
		return s.unit.cmd[:]
	case len(cmds) == len(s.unit.cmds) && &cmds[0] == &s.unit.cmds[0]:
		return cmds
	}
	return slices.Clone(cmds) // a hook before ours made a list of its own
}

// take accepts what was submitted. cmds begins with s.
func (l *lane) take(ctx context.Context, s *submission, cmds []redis.Cmder) error {
	u := s.unit
	if err := u.prepare(l, ctx, s.restore(cmds), s.key); err != nil { // an argument's MarshalBinary: as in a pipeline, no command is sent
		for _, cmd := range cmds {
			cmd.SetErr(err)
			_ = l.unencodable(ctx, cmd, err)
		}
		return err
	}
	if err := l.submit(u); err != nil {
		outcome := telemetry.OutcomeRejected
		if err != ErrQueueFull {
			err, outcome = ctx.Err(), telemetry.OutcomeCancelled
		}
		u.loadOwn()
		for _, c := range u.todo {
			c.err = l.drop(ctx, c.cmd, outcome, false, u.start, err)
		}
		u.collect()
		u.ended = true
	}
	s.taken = true
	return nil
}
