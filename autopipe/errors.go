package autopipe

import (
	"errors"
	"strings"
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

// sealedError carries an error from a node's lane up through the cluster client, which would send the command again if
// it could see the cause. The hook above the cluster client opens it.
type sealedError struct{ err error }

func (e *sealedError) Error() string { return e.err.Error() }

// As finds an *UncertainError, for callers of a node's client (ForEachMaster), who have no hook above them.
func (e *sealedError) As(target any) bool {
	u, ok := e.err.(*UncertainError)
	if p, want := target.(**UncertainError); ok && want {
		*p = u
		return true
	}
	return false
}

func unseal(err error) error {
	if s, ok := err.(*sealedError); ok {
		return s.err
	}
	return err
}
