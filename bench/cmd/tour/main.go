// Command tour shows autopipe at work on a Redis: Act 1 walks through what it does, Act 2 measures it against a plain
// client. "make demo" runs it.
//
//	go run ./cmd/tour [-duration 2s] [-goroutines 500] [-addr host:port]
//
// It uses the Redis that -addr or the environment variable REDIS_ADDR names, or starts one of its own. On a Redis that
// it did not start it writes keys below "autopipe:tour:" only, and deletes them at the end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9/logging"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // as a shell reports Ctrl-C
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// The first signal ends the tour in good order; a second one need not wait for that.
	context.AfterFunc(ctx, stop)
	// A reader that goes away ("| head") must not kill us before what we started is ended: the write then fails instead.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program but for its signals; it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg, err := parseFlags(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "tour: %v (-h lists the flags)\n", err)
		return exitUsage
	}
	logging.Disable() // go-redis tells of every failed dial; our own sentence says it once
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = show(ctx, cfg, newScreen(stdout, cancel))
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "\ntour: stopped before the end; what it had started is ended")
		return exitInterrupted
	case err != nil:
		fmt.Fprintf(stderr, "tour: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// show finds a Redis, plays both acts on it and leaves nothing behind.
func show(ctx context.Context, cfg config, s *screen) (err error) {
	s.title("autopipe: many goroutines, shared pipelines")
	srv, err := findServer(ctx, cfg, s)
	if err != nil {
		return err
	}
	defer srv.close()
	s.pair("server", srv.long())
	s.pair("client", aboutClient())

	keys := newKeyspace()
	defer func() {
		if e := srv.sweep(keys); e != nil && err == nil {
			err = fmt.Errorf("the keys %s* could not be deleted: %w", keys.prefix, e)
		}
	}()
	if err := act1(ctx, s, srv, keys); err != nil {
		return err
	}
	rows, err := act2(ctx, s, srv, keys, cfg)
	if err != nil {
		return err
	}
	s.blank()
	s.strong(verdict(rows, srv.short))
	return nil
}
