package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

type options struct {
	plan         plan.Plan
	variants     []*rival.Variant
	base         string
	addr         string
	clusterAddrs string
	pool         int
	cancellable  bool
	dir          string
	render       string
}

func parse(args []string) (*options, error) {
	var (
		o              options
		quick, full    bool
		callers, mixes string
		sizes, delays  string
		rates, names   string
		cluster        string
		rounds         int
		duration, warm time.Duration
	)
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.BoolVar(&quick, "quick", false, "a few scenarios in under two minutes")
	f.BoolVar(&full, "full", false, "every dimension; takes hours")
	f.StringVar(&callers, "callers", "", "numbers of callers, e.g. 1,8,256; this and the next four replace the plan's scenarios by all their combinations")
	f.StringVar(&mixes, "mix", "", "set, get, mixed (90 % GET)")
	f.StringVar(&sizes, "size", "", "bytes per value, e.g. 16,1024,65536")
	f.StringVar(&delays, "delay", "", "what the link adds to a round trip, e.g. 0,200us,1ms")
	f.StringVar(&rates, "open", "", "arrivals per second of an open loop, e.g. 5000,50000; 0 is a closed loop")
	f.IntVar(&rounds, "rounds", 0, "rounds per variant and scenario (the plan's)")
	f.DurationVar(&duration, "duration", 0, "of one round (the plan's)")
	f.DurationVar(&warm, "warmup", 0, "before the first round of each variant (the plan's)")
	f.StringVar(&names, "variants", "all", "which of: "+strings.Join(rival.Names(), ", "))
	f.StringVar(&o.base, "base", "plain", "variant that the terminal's ratios refer to")
	f.StringVar(&o.addr, "addr", "", "Redis server (REDIS_HOST, REDIS_ADDR; without any of them one is started)")
	f.StringVar(&cluster, "cluster", "", "the part on a cluster: on, off, only (on in the standard and the full plan)")
	f.StringVar(&o.clusterAddrs, "cluster-addrs", "", "nodes of a cluster, comma-separated ("+target.ClusterEnv+"; without either one is started)")
	f.IntVar(&o.pool, "pool", 100, "connections of each pooling client")
	f.BoolVar(&o.cancellable, "cancellable", false, "callers carry a context with a deadline, as request handlers do")
	f.StringVar(&o.dir, "out", "", "directory for the results (bench/results; bench/results/local for what is not to be published)")
	f.StringVar(&o.render, "render", "", "do not measure: write tables, plots and page of this JSON file")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	switch {
	case quick && full:
		return nil, fmt.Errorf("-quick or -full, not both")
	case quick:
		o.plan = plan.Quick()
	case full:
		o.plan = plan.Full()
	default:
		o.plan = plan.Standard()
	}

	if callers+mixes+sizes+delays+rates != "" {
		b, err := block(callers, mixes, sizes, delays, rates)
		if err != nil {
			return nil, err
		}
		o.plan.Name, o.plan.Scenarios, o.plan.Cluster, o.plan.Published = "custom", plan.Expand(b), nil, false
	}
	if err := withCluster(&o.plan, cluster); err != nil {
		return nil, err
	}
	if rounds > 0 {
		o.plan.Rounds = rounds
	}
	if duration > 0 {
		// Who names a duration means it, budget or not.
		o.plan.Duration, o.plan.Budget = duration, 0
	}
	if warm > 0 {
		o.plan.Warmup = warm
	}
	var err error
	if o.variants, err = rival.Select(names); err != nil {
		return nil, err
	}
	if rival.Find(o.base) == nil {
		return nil, fmt.Errorf("-base: no variant %q", o.base)
	}
	// Fewer variants or other rounds are for oneself as well.
	if names != "all" || rounds > 0 || duration > 0 {
		o.plan.Published = false
	}
	if o.dir == "" {
		o.dir = resultsDir()
		if !o.plan.Published {
			// A look must not replace the published page. Git ignores this folder.
			o.dir = filepath.Join(o.dir, "local")
		}
	}
	return &o, nil
}

// withCluster changes the plan as the flag -cluster says.
func withCluster(p *plan.Plan, flag string) error {
	switch flag {
	case "":
	case "off":
		p.Cluster, p.Published = nil, false
	case "only":
		p.Name, p.Scenarios, p.Budget, p.Published = "cluster", nil, 0, false
		p.Cluster = plan.OnCluster()
	case "on":
		p.Cluster = plan.OnCluster()
	default:
		return fmt.Errorf("-cluster %q: want on, off or only", flag)
	}
	return nil
}

// resultsDir works from the module's own directory and from the repository's root.
func resultsDir() string {
	if _, err := os.Stat("bench/go.mod"); err == nil {
		return "bench/results"
	}
	return "results"
}

// block of the combinations that flags ask for; what they leave open has one value.
func block(callers, mixes, sizes, delays, rates string) (b plan.Block, err error) {
	if b.Callers, err = list("callers", callers, "256", positive); err != nil {
		return b, err
	}
	if b.Mixes, err = list("mix", mixes, "set", load.ParseMix); err != nil {
		return b, err
	}
	if b.Sizes, err = list("size", sizes, "16", positive); err != nil {
		return b, err
	}
	if b.Delays, err = list("delay", delays, "0", time.ParseDuration); err != nil {
		return b, err
	}
	b.Rates, err = list("open", rates, "0", func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	return b, err
}

func positive(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && n < 1 {
		err = fmt.Errorf("%d is below 1", n)
	}
	return n, err
}

func list[T any](name, text, standard string, parse func(string) (T, error)) ([]T, error) {
	if text == "" {
		text = standard
	}
	var out []T
	for s := range strings.SplitSeq(text, ",") {
		v, err := parse(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("-%s: %w", name, err)
		}
		out = append(out, v)
	}
	return out, nil
}
