package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// answerTimeout is how long the Redis that the user named may take for its first answer.
const answerTimeout = 2500 * time.Millisecond

// useServer checks that the Redis the user named answers and takes writes. If it does not, the error is one sentence
// that says what to do.
func useServer(ctx context.Context, cfg config) (*server, error) {
	srv := &server{options: cfg.server, whence: "at " + cfg.server.Addr + ", from " + cfg.source, close: func() {}}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()

	// A client of its own: it gives up at once, where the tour's clients try again as go-redis does.
	o := *cfg.server
	o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled = -1, 1, true
	o.DialTimeout = answerTimeout
	rdb := redis.NewClient(&o)
	defer rdb.Close()

	keys := newKeyspace()
	probe := keys.key("probe")
	err := rdb.Set(ctx, probe, "", time.Minute).Err()
	if err == nil {
		err = keys.delete(ctx, rdb)
	}
	if err != nil {
		return nil, explain(cfg, err)
	}
	fields, err := info(ctx, rdb, "server")
	switch {
	case err != nil || fields["redis_version"] == "":
		srv.short = "Redis of unknown version"
	default:
		srv.short = "Redis " + fields["redis_version"]
	}
	return srv, nil
}

// explain turns what went wrong with a Redis into what to do about it.
func explain(cfg config, err error) error {
	addr, source := cfg.server.Addr, cfg.source
	text := err.Error()
	has := func(codes ...string) bool {
		for _, c := range codes {
			if strings.HasPrefix(text, c) {
				return true
			}
		}
		return false
	}
	switch {
	case has("NOAUTH", "WRONGPASS", "ERR AUTH", "ERR invalid password"):
		return fmt.Errorf("the Redis at %s wants another password (%s): set %s to redis://user:password@%s", addr, text, source, addr)
	case has("MOVED", "CLUSTERDOWN", "CROSSSLOT"):
		return fmt.Errorf("the Redis at %s is a node of a cluster (%s): set %s to a single server, or leave it out and the tour starts one", addr, text, source)
	}
	if isReply := redis.Error(nil); errors.As(err, &isReply) {
		return fmt.Errorf("the Redis at %s does not take the tour's keys (%s): set %s to one that does, or leave it out and the tour starts one", addr, text, source)
	}
	cause := text
	var op *net.OpError
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		cause = "its name is not known"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		cause = "nothing within " + answerTimeout.String()
	case errors.As(err, &op):
		cause = strings.TrimPrefix(op.Err.Error(), "connect: ")
	}
	return fmt.Errorf("no Redis answers at %s (%s): start one there, correct %s, or leave it out and the tour starts its own", addr, cause, source)
}
