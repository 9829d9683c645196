package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/stack"
)

// Exit statuses, if there is no command to give one.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // as a shell reports Ctrl-C
)

const usage = `Usage: observe [flags] [-- command [arguments]]

Runs redis-server, prometheus-redis-exporter, the demo load and prometheus on this machine, until Ctrl-C or, given a
command, until that has run. The command finds them by PROMETHEUS_URL, DEMO_METRICS_URL and REDIS_ADDR.

`

type options struct {
	stack.Config
	warm    time.Duration
	command []string
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("observe", flag.ContinueOnError)
	fs.SetOutput(out)
	fs.Usage = func() { fmt.Fprint(out, usage); fs.PrintDefaults() }
	fs.DurationVar(&o.warm, "warm", 0, "`time` that the stack runs before the command")
	fs.DurationVar(&o.Every, "every", time.Second, "`time` between two scrapes, at least 100ms")
	fs.StringVar(&o.Rules, "rules", stack.RulesDir(), "`directory` with rules for Prometheus, *.yml but *_test.yml")
	fs.IntVar(&o.RedisPort, "redis-port", 6399, "`port` of redis-server; this and the others are chosen if they are taken")
	fs.IntVar(&o.DemoPort, "demo-port", 9464, "`port` of the demo load")
	fs.IntVar(&o.ExporterPort, "exporter-port", 9121, "`port` of prometheus-redis-exporter")
	fs.IntVar(&o.PrometheusPort, "prometheus-port", 9090, "`port` of prometheus")
	demo := fs.String("demo", "", "`flags` of the demo load, separated by blanks, such as \"-cycle 20s -rate 5000\"")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	o.command = fs.Args()
	switch {
	case o.Every < 100*time.Millisecond:
		return o, errors.New("-every must be at least 100ms")
	case o.warm < 0:
		return o, errors.New("-warm must not be negative")
	case o.warm > 0 && len(o.command) == 0:
		return o, errors.New("-warm needs a command")
	}
	self, err := os.Executable()
	o.Demo = append([]string{self, demoArg}, strings.Fields(*demo)...)
	return o, err
}

// run is the whole program but for its signals, which end ctx; it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "observe: %v (-h lists the flags)\n", err)
		return exitUsage
	}
	status, err := observe(ctx, o, stdout)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		fmt.Fprintln(stderr, "observe: stopped before the end; what it had started is ended")
		return exitInterrupted
	}
	if err != nil {
		fmt.Fprintf(stderr, "observe: %v\n", err)
		return exitFailed
	}
	return status
}

func observe(ctx context.Context, o options, stdout io.Writer) (status int, err error) {
	s, err := stack.Start(ctx, o.Config)
	if err != nil {
		return exitFailed, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	where(stdout, s, o)
	if len(o.command) == 0 {
		select {
		case <-ctx.Done():
			return exitOK, nil
		case err := <-s.Failed():
			return exitFailed, err
		}
	}
	select {
	case <-time.After(o.warm):
	case <-ctx.Done():
		return exitFailed, ctx.Err()
	case err := <-s.Failed():
		return exitFailed, err
	}
	return s.Run(ctx, o.command)
}

// where tells a person where to look.
func where(out io.Writer, s *stack.Stack, o options) {
	fmt.Fprintf(out, "prometheus   %s\ndemo load    %s\nredis        %s, exporter %s\n", s.Prometheus, s.Metrics, s.Redis, s.Exporter)
	if len(o.command) > 0 {
		fmt.Fprintf(out, "in %v: %s\n", o.warm, strings.Join(o.command, " "))
		return
	}
	const graph = "/graph?g0.tab=0&g0.range_input=5m&g0.expr="
	fmt.Fprintf(out, "\ncommands for each round trip, by pipe:\n  %s%s%s\nhow batches left:\n  %s%s%s\n\nCtrl-C stops all of it.\n",
		s.Prometheus, graph, "sum+by+(pipe)+(rate(autopipe_batch_size_sum[15s]))/sum+by+(pipe)+(rate(autopipe_batch_size_count[15s]))",
		s.Prometheus, graph, "sum+by+(reason)+(rate(autopipe_flushes_total[15s]))")
}
