package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9/logging"
)

// Main is the whole program "demoload" but for its signals, which end ctx. It returns the exit status.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg, err := ParseFlags(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "demoload: %v (-h lists the flags)\n", err)
		return 2
	}
	logging.Disable() // go-redis tells of every failed dial, and here many shall fail
	d, err := Start(ctx, cfg, slog.New(slog.NewTextHandler(stderr, nil)))
	if err != nil {
		fmt.Fprintf(stderr, "demoload: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "demoload: %d callers on %v; metrics at http://%s/metrics, also /stats and /debug/pprof/\n", cfg.Callers, cfg.Redis, d.Addr())
	var end <-chan time.Time
	if cfg.Duration > 0 {
		end = time.After(cfg.Duration)
	}
	select {
	case <-ctx.Done():
	case <-end:
	case err = <-d.Failed():
	}
	if err = errors.Join(err, d.Close()); err != nil {
		fmt.Fprintf(stderr, "demoload: %v\n", err)
		return 1
	}
	for _, p := range d.pipes {
		fmt.Fprintln(stdout, p.hook.Stats())
	}
	return 0
}
