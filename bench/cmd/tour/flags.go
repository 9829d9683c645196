package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// config is what the flags and the environment say.
type config struct {
	duration   time.Duration  // measured, per approach
	goroutines int            // of Act 2
	install    bool           // whether a missing redis-server may be installed
	server     *redis.Options // nil: start one
	source     string         // who named server: "-addr" or "REDIS_ADDR"
}

const (
	minDuration, maxDuration     = 100 * time.Millisecond, 10 * time.Minute
	minGoroutines, maxGoroutines = 1, 100_000
)

// parseFlags reads the flags; the help text goes to out. A value that makes no sense is an error, not a guess.
func parseFlags(args []string, out io.Writer) (config, error) {
	var c config
	fs := flag.NewFlagSet("tour", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // the caller prints the error, in one line
	fs.DurationVar(&c.duration, "duration", 2*time.Second, "how long Act 2 measures each approach")
	fs.IntVar(&c.goroutines, "goroutines", 500, "how many goroutines send commands in Act 2")
	addr := fs.String("addr", "", "Redis to use: host:port or redis://user:password@host:port/db (default: $REDIS_ADDR;\nwithout it, one is started for the tour)")
	fs.BoolVar(&c.install, "install", true, "install the Debian package when redis-server is missing and that is possible;\nelse an embedded miniredis stands in")

	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(out, "A tour of autopipe, and a comparison with a plain client. Flags:")
		fs.SetOutput(out)
		fs.PrintDefaults()
		return c, err
	}
	if err != nil {
		return c, err
	}
	if fs.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if c.duration < minDuration || c.duration > maxDuration {
		return c, fmt.Errorf("-duration %v: want %v to %v", c.duration, minDuration, maxDuration)
	}
	if c.goroutines < minGoroutines || c.goroutines > maxGoroutines {
		return c, fmt.Errorf("-goroutines %d: want %d to %s", c.goroutines, minGoroutines, number(maxGoroutines))
	}
	c.source = "-addr"
	if *addr == "" {
		*addr, c.source = os.Getenv("REDIS_ADDR"), "REDIS_ADDR"
	}
	if *addr == "" {
		return c, nil
	}
	if c.server, err = parseAddr(*addr); err != nil {
		return c, fmt.Errorf("%s is not an address such as localhost:6379 or redis://:password@host:6379/0: %w", c.source, err)
	}
	return c, nil
}

// parseAddr reads an address as people write it: host, host:port or a redis:// URL. Its errors do not repeat the
// address, which may hold a password.
func parseAddr(addr string) (*redis.Options, error) {
	if !strings.Contains(addr, "://") {
		addr = "redis://" + addr
	}
	o, err := redis.ParseURL(addr)
	if e := (*url.Error)(nil); errors.As(err, &e) {
		if strings.Contains(e.Err.Error(), "invalid port") { // the only one of net/url's texts that quotes user info
			return nil, errors.New("its port is not a number")
		}
		return nil, e.Err
	}
	return o, err
}
