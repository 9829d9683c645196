// Command profile runs one scenario and takes profiles of it.
//
//	go run ./cmd/profile -list
//	go run ./cmd/profile -scenario set2000
//	go run ./cmd/profile -scenario set256 -variant rueidis -mutex -block
//	PYROSCOPE_URL=http://pyroscope:4040 go run ./cmd/profile -scenario set256 -spans
//
// It leaves, under profiles/<scenario>-<variant>/: cpu.pprof and heap.pprof (and
// mutex.pprof, block.pprof, trace.out on request) for "go tool pprof" and "go tool
// trace"; for each a table of the costliest functions (.txt) and a flame graph (.svg).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/measure"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/profiling"
	"github.com/goautopipe/redis-autopipe/bench/push"
	"github.com/goautopipe/redis-autopipe/bench/report"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

type options struct {
	scenario plan.Named
	variant  *rival.Variant
	duration time.Duration
	want     profiling.Want
	spans    bool
	addr     string
	pool     int
	dir      string
}

func main() {
	target.ServeLink()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "profile:", err)
		}
		stop()
		os.Exit(1)
	}
}

func parse(args []string, out io.Writer) (*options, error) {
	var (
		o             options
		name, variant string
		list          bool
	)
	f := flag.NewFlagSet("profile", flag.ContinueOnError)
	f.StringVar(&name, "scenario", "set256", "which; see -list")
	f.StringVar(&variant, "variant", "", "client (the scenario's own)")
	f.DurationVar(&o.duration, "duration", 10*time.Second, "of the profiled run")
	f.BoolVar(&o.want.Mutex, "mutex", false, "also a mutex profile; slows the run")
	f.BoolVar(&o.want.Block, "block", false, "also a block profile; slows the run a lot")
	f.BoolVar(&o.want.Trace, "trace", false, "also an execution trace; large, take a short -duration")
	f.BoolVar(&o.spans, "spans", false, "a span around every command, so that profiles can be cut by span")
	f.StringVar(&o.addr, "addr", "", "Redis server (REDIS_HOST, REDIS_ADDR; without any of them one is started)")
	f.IntVar(&o.pool, "pool", 100, "connections of a pooling client")
	f.StringVar(&o.dir, "out", "", "directory (bench/profiles)")
	f.BoolVar(&list, "list", false, "name the scenarios and variants")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if list {
		for _, n := range plan.NamedScenarios {
			fmt.Fprintf(out, "%-10s %s (%s)\n", n.Name, n.About, n.Variant)
		}
		fmt.Fprintf(out, "\nvariants: %v\n", rival.Names())
		return nil, nil
	}
	var ok bool
	if o.scenario, ok = plan.FindNamed(name); !ok {
		return nil, fmt.Errorf("no scenario %q; see -list", name)
	}
	if variant == "" {
		variant = o.scenario.Variant
	}
	if o.variant = rival.Find(variant); o.variant == nil {
		return nil, fmt.Errorf("no variant %q; there are %v", variant, rival.Names())
	}
	if o.variant.Missing != "" {
		return nil, fmt.Errorf("%s: %s", variant, o.variant.Missing)
	}
	if o.dir == "" {
		o.dir = "profiles"
		if _, err := os.Stat("bench/go.mod"); err == nil {
			o.dir = "bench/profiles"
		}
	}
	o.dir = filepath.Join(o.dir, o.scenario.Name+"-"+variant)
	return &o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	if err != nil || o == nil {
		return err
	}
	srv, err := target.Open(o.addr)
	if err != nil {
		return err
	}
	defer srv.Close()
	session := measure.Open(srv, o.pool)
	defer session.Close()
	if o.spans {
		wrap, end := spans(o.scenario.Name)
		defer end()
		session.Wrap = wrap
	}
	fmt.Fprintf(out, "%s: %s; %s for %v\n", o.scenario.Name, o.scenario.Scenario.Words(), o.variant.Title, o.duration)
	if err := session.Warm(ctx, o.variant, o.scenario.Scenario, time.Second); err != nil {
		return err
	}
	round, err := profiled(ctx, o, session, out)
	if err != nil {
		return err
	}
	res := &report.Results{Variants: []report.Variant{report.VariantOf(o.variant)}, Measured: []*report.Measured{{
		Scenario: o.scenario.Scenario, Variant: o.variant.Name, Rounds: []measure.Round{round},
	}}}
	if err := res.Table(out, o.scenario.Scenario, o.variant.Name); err != nil {
		return err
	}
	if o.want.Contention() || o.spans {
		fmt.Fprintln(out, "These numbers were taken with contention profiles, a trace or spans on: do not publish them.")
	}
	return render(o, out)
}

// profiled runs the scenario once with the profilers on.
func profiled(ctx context.Context, o *options, session *measure.Session, out io.Writer) (r measure.Round, err error) {
	config, pushing := push.FromEnv()
	if pushing {
		config.Mutex, config.Block = o.want.Mutex, o.want.Block
		config.Tags = map[string]string{
			"scenario": o.scenario.Name, "variant": o.variant.Name, "commit": report.Commit(),
		}
		p, err := push.Start(config)
		if err != nil {
			return r, err
		}
		o.want.Shared = true
		defer func() {
			// A server that cannot be reached must not cost us the files.
			if e := p.Stop(); e != nil {
				fmt.Fprintln(out, "push:", e)
			} else {
				fmt.Fprintf(out, "pushed as %s %v\n", push.App, config.Tags)
			}
		}()
	}
	capture, err := profiling.Start(o.dir, o.want)
	if err != nil {
		return r, err
	}
	r, err = session.Round(ctx, o.variant, o.scenario.Scenario, o.duration)
	if e := capture.Stop(); err == nil {
		err = e
	}
	return r, err
}
