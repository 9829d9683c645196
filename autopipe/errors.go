package autopipe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrQueueFull is returned, at once, for a command that finds WithMaxQueue commands waiting in its lane. It was not
// sent.
var ErrQueueFull = errors.New("autopipe: queue is full")

// UncertainError is returned for a write that was sent, or may have been, and whose reply was lost: it may or may not
// have run. It unwraps to the cause, so that errors.Is(err, io.EOF) and errors.As(err, &netErr) work as before.
//
// go-redis itself sends such a command again, which may run it twice (WithRetry(RetryLikeGoRedis) brings that back).
type UncertainError struct {
	Command string // lower-case name
	Err     error  // what broke the connection
}

// Error tells the command and the cause.
func (e *UncertainError) Error() string {
	return "autopipe: reply lost, " + strings.ToUpper(e.Command) + " may or may not have run: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *UncertainError) Unwrap() error { return e.Err }

// ContextError is returned when a caller's context ends while its command waits or travels. It unwraps to the context's
// error, so errors.Is(err, context.DeadlineExceeded) works as before, and says where the time went.
type ContextError struct {
	Command  string        // lower-case name
	Err      error         // context.Canceled or context.DeadlineExceeded
	InFlight bool          // it had been sent and may have run; false: it was queued and was never sent
	Waited   time.Duration // from the call until now
	Queued   int           // commands waiting in the lane now
	Batches  int           // batches in flight now
}

// Error tells all of it in one line.
func (e *ContextError) Error() string {
	where := "queued, not sent"
	if e.InFlight {
		where = "in flight, may have run"
	}
	return fmt.Sprintf("%v (autopipe: %s %s after %v; %d queued, %d batches in flight)",
		e.Err, strings.ToUpper(e.Command), where, e.Waited.Round(time.Microsecond), e.Queued, e.Batches)
}

// Unwrap returns the context's error.
func (e *ContextError) Unwrap() error { return e.Err }

// Timeout reports whether a deadline has passed, as net.Error and the context's own error do.
func (e *ContextError) Timeout() bool { return errors.Is(e.Err, context.DeadlineExceeded) }

// explain makes the error of a caller that leaves.
func (l *lane) explain(left *leftError, cmd redis.Cmder, start time.Duration) error {
	e := &ContextError{Command: cmd.Name(), Err: left.cause, InFlight: left.inFlight}
	if start > 0 {
		e.Waited = l.h.now() - start
	}
	l.mu.Lock()
	e.Queued, e.Batches = l.q.n+l.held, l.inFlight
	l.mu.Unlock()
	return e
}

// sealedError carries an error from a node's lane up through the cluster client, which would send the command again if
// it could see the cause. It also says that the command has been counted. The hook above the cluster client opens it.
type sealedError struct{ err error }

func (e *sealedError) Error() string { return e.err.Error() }

// As finds our own errors, for callers of a node's client (ForEachMaster), who have no hook above them.
func (e *sealedError) As(target any) bool {
	switch target.(type) {
	case **UncertainError, **ContextError:
		return errors.As(e.err, target)
	}
	return false
}

// Is finds what go-redis does not send again, for the same callers.
func (e *sealedError) Is(target error) bool {
	switch target {
	case context.Canceled, context.DeadlineExceeded, ErrQueueFull:
		return errors.Is(e.err, target)
	}
	return false
}

// seal seals an error of a command that a node's lane has counted.
func (l *lane) seal(err error) error {
	if !l.routed {
		return err
	}
	return &sealedError{err}
}

func unseal(err error) error {
	if s, ok := err.(*sealedError); ok {
		return s.err
	}
	return err
}
