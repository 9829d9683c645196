package meter

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// serverCodes are the first words of the errors that Redis itself sends. A script or module may send any other, so these
// are the only ones that leave the process; error texts never do, since Redis quotes arguments in some of them.
var serverCodes = setOf("ASK", "BUSY", "BUSYGROUP", "BUSYKEY", "CLUSTERDOWN", "CROSSSLOT", "DENIED", "ERR", "EXECABORT",
	"FAILOVER", "INPROG", "INVALIDOBJ", "IOERR", "LOADING", "MASTERDOWN", "MISCONF", "MOVED", "NOADDR", "NOAUTH", "NOGOODSLAVE",
	"NOGROUP", "NOMASTERLINK", "NOPERM", "NOPROTO", "NOREPLICAS", "NOSCRIPT", "NOTBUSY", "NOTREADY", "OOM", "READONLY",
	"STALE", "SYNTAX", "TRYAGAIN", "UNBLOCKED", "UNKILLABLE", "WRONGPASS", "WRONGTYPE")

func setOf(words ...string) map[string]string {
	set := make(map[string]string, len(words))
	for _, w := range words {
		set[w] = w
	}
	return set
}

// ErrorType classes the end of a command for attributes and logs: "" for ok and nil, the first word of a server's error
// (WRONGTYPE; Other if it is not one of Redis's own), or a word of ours for what broke. code is the server's word alone.
// The set of both is closed, and neither ever holds a part of the error's text.
func ErrorType(o telemetry.Outcome, err error) (typ, code string) {
	switch o {
	case telemetry.OutcomeOK, telemetry.OutcomeNil:
		return "", ""
	case telemetry.OutcomeServerError:
		code = serverCode(err)
		return code, code
	case telemetry.OutcomeCancelled:
		if errors.Is(err, context.DeadlineExceeded) {
			return "deadline_exceeded", ""
		}
		return "cancelled", ""
	case telemetry.OutcomeTransportError:
		if err != nil {
			return Breakage(err), ""
		}
	}
	return o.String(), "" // uncertain, rejected, or broken for a reason that was not told
}

func serverCode(err error) string {
	var re redis.Error
	if !errors.As(err, &re) {
		return Other
	}
	word, _, _ := strings.Cut(re.Error(), " ")
	if code, ok := serverCodes[word]; ok {
		return code
	}
	return Other
}

// Breakage is a word for what broke a connection, "" for nil.
func Breakage(err error) string {
	var ne net.Error
	switch {
	case err == nil:
		return ""
	case errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return "pool"
	case errors.Is(err, redis.ErrClosed):
		return "closed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "eof"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline_exceeded"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return "timeout"
	case errors.As(err, &ne):
		return "network"
	}
	return Other
}
