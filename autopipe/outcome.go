package autopipe

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// isReply reports whether err is the server's own answer: no error, redis.Nil, or an error reply. It does not look into
// errors that join several: go-redis makes one of "connection unusable" and a reply, and that is a broken connection.
func isReply(err error) bool {
	for err != nil {
		if _, ok := err.(redis.Error); ok {
			return true
		}
		if err = errors.Unwrap(err); err == nil {
			return false
		}
	}
	return true
}

// decide tells from the error of one sending how the command ended and whether it is sent again. own says that an error
// of no known kind is this command's own: it travelled alone, or it is the first in its batch without an answer.
func (l *lane) decide(c *call, own bool) {
	err := c.err
	switch {
	case err == nil:
		c.outcome = telemetry.OutcomeOK
	case errors.Is(err, redis.Nil):
		c.outcome = telemetry.OutcomeNil
	case isReply(err):
		c.outcome = telemetry.OutcomeServerError
		if cause, ok := refusal(err); ok && !c.script() {
			l.again(c, cause)
		} else if cause, ok := redirect(err); ok && l.routed {
			l.again(c, cause)
		}
	case own && c.ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		c.outcome, c.err = telemetry.OutcomeCancelled, l.seal(err)
	default:
		c.outcome = telemetry.OutcomeTransportError
		cause, sent := transportCause(err)
		if sent && !c.written && isTransport(err) { // the connection broke while go-redis set it up
			cause, sent = telemetry.RetryDial, false
		}
		switch {
		case c.replays, errors.Is(err, redis.ErrClosed): // go-redis has retried already, or the client is closed
		case !sent:
			l.again(c, cause)
		case own && !isTransport(err): // a reply that could not be read, a limiter's refusal: this command's own
		case !c.written: // refused by a limiter, or by a hook behind ours
		case c.replayable():
			// An error of another kind that is not its own is its neighbour's, whose reply could not be read.
			if isTransport(err) || !own && err != errAborted {
				l.again(c, telemetry.RetryTransport)
			}
		default:
			c.outcome = telemetry.OutcomeUncertain
			c.err = &UncertainError{Command: c.cmd.Name(), Err: err}
		}
		if !c.replays && !c.passed {
			c.err = l.seal(c.err)
		}
	}
}

// again asks for another sending if the policy and the number of sendings so far allow one. On a node's lane it is the
// cluster client above that sends again: it knows where to.
func (l *lane) again(c *call, cause telemetry.RetryCause) {
	switch {
	case l.routed:
		c.passed, c.cause = l.h.cfg.retry != RetryNone || isReply(c.err), cause
	case l.h.cfg.retry == RetrySafe && int(c.attempt) <= l.h.cfg.maxRetries:
		c.again, c.cause = true, cause
	}
}

// script reports whether an error reply may have come from the user's script, after it did part of its work.
func (c *call) script() bool {
	return c.info == nil || c.info.Has(command.Script)
}

// replayable reports whether running the command twice makes no difference.
func (c *call) replayable() bool {
	return c.info != nil && !c.cmd.NoRetry() && c.info.Replayable(c.cmd)
}

// redirect tells the replies by which a cluster node sends a command to another node.
func redirect(err error) (telemetry.RetryCause, bool) {
	if _, ok := redis.IsMovedError(err); ok {
		return telemetry.RetryMoved, true
	}
	if _, ok := redis.IsAskError(err); ok {
		return telemetry.RetryAsk, true
	}
	return 0, false
}

// refusal tells the error replies by which a server says that it did not run the command and may do so later. They
// are the ones that go-redis retries (shouldRetry in its error.go).
func refusal(err error) (telemetry.RetryCause, bool) {
	switch {
	case redis.IsLoadingError(err):
		return telemetry.RetryLoading, true
	case redis.IsReadOnlyError(err):
		return telemetry.RetryReadOnly, true
	case redis.IsMasterDownError(err):
		return telemetry.RetryMasterDown, true
	case redis.IsClusterDownError(err):
		return telemetry.RetryClusterDown, true
	case redis.IsTryAgainError(err):
		return telemetry.RetryTryAgain, true
	case redis.IsNoReplicasError(err):
		return telemetry.RetryNoReplicas, true
	case redis.IsMaxClientsError(err):
		return telemetry.RetryMaxClients, true
	}
	return 0, false
}

// dialError marks an error that our DialHook saw, so that it is known that nothing was sent whatever the user's dialer
// returns. It reads and unwraps as the error itself.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

// transportCause tells why a command got no reply, and whether it may have been sent.
func transportCause(err error) (cause telemetry.RetryCause, sent bool) {
	var op *net.OpError
	var dial dialError
	switch {
	case errors.As(err, &dial), errors.As(err, &op) && op.Op == "dial":
		return telemetry.RetryDial, false
	case errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return telemetry.RetryPool, false
	}
	return telemetry.RetryTransport, true
}

// isTransport reports whether err is a failure of the connection, rather than of one command. go-redis retries the same
// ones.
func isTransport(err error) bool {
	var ne net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &ne)
}

// backoff is the pause before sending number attempt+1, shaped as go-redis's RetryBackoff: random below a bound that
// doubles, between least and greatest.
func (h *Hook) backoff(attempt int) time.Duration {
	least, greatest := h.cfg.minBackoff, h.cfg.maxBackoff
	if least <= 0 {
		return 0
	}
	bound := least << min(attempt, 30)
	if bound <= 0 || bound > greatest {
		bound = greatest
	}
	return min(least+rand.N(bound), greatest)
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
