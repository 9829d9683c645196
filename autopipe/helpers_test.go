package autopipe_test

import (
	"context"
	"errors"
	"net"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

func asUncertain(err error, target **autopipe.UncertainError) bool { return errors.As(err, target) }

// viaProxy is a dialer that reaches one address through another.
func viaProxy(addr, proxy string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, to string) (net.Conn, error) {
		if to == addr {
			to = proxy
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}
}
