package meter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

type serverError string

func (e serverError) Error() string { return string(e) }
func (serverError) RedisError()     {}

func TestErrorType(t *testing.T) {
	for _, c := range []struct {
		o         telemetry.Outcome
		err       error
		typ, code string
	}{
		{telemetry.OutcomeOK, nil, "", ""},
		{telemetry.OutcomeNil, redis.Nil, "", ""},
		{telemetry.OutcomeServerError, serverError("WRONGTYPE Operation against a key"), "WRONGTYPE", "WRONGTYPE"},
		{telemetry.OutcomeServerError, serverError("ERR unknown command 'x', with args beginning with: 'secret'"), "ERR", "ERR"},
		{telemetry.OutcomeServerError, fmt.Errorf("wrapped: %w", serverError("OOM command not allowed")), "OOM", "OOM"},
		{telemetry.OutcomeServerError, serverError("SECRET of a script"), Other, Other},
		{telemetry.OutcomeServerError, errors.New("whatever"), Other, Other},
		{telemetry.OutcomeCancelled, context.Canceled, "cancelled", ""},
		{telemetry.OutcomeCancelled, context.DeadlineExceeded, "deadline_exceeded", ""},
		{telemetry.OutcomeUncertain, io.EOF, "uncertain", ""},
		{telemetry.OutcomeRejected, nil, "rejected", ""},
		{telemetry.OutcomeTransportError, io.EOF, "eof", ""},
		{telemetry.OutcomeTransportError, nil, "transport_error", ""},
		{telemetry.OutcomeTransportError, redis.ErrClosed, "closed", ""},
		{telemetry.OutcomeTransportError, redis.ErrPoolTimeout, "pool", ""},
		{telemetry.OutcomeTransportError, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "refused", ""},
		{telemetry.OutcomeTransportError, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, "timeout", ""},
		{telemetry.OutcomeTransportError, &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "reset", ""},
		{telemetry.OutcomeTransportError, &net.DNSError{Err: "no such host"}, "network", ""},
		{telemetry.OutcomeTransportError, errors.New("password hunter2 refused"), Other, ""},
	} {
		if typ, code := ErrorType(c.o, c.err); typ != c.typ || code != c.code {
			t.Errorf("%v, %v: %q, %q, want %q, %q", c.o, c.err, typ, code, c.typ, c.code)
		}
	}
}
