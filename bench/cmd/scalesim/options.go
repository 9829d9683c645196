package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/scale"
)

type options struct {
	measure  bool
	out      string
	measured string
	write    string
	list     []scale.Config
}

func parse(args []string, usage io.Writer) (*options, error) {
	var (
		o                  options
		nodes, rates, rtts string
		c                  scale.Config
	)
	f := flag.NewFlagSet("scalesim", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&nodes, "nodes", "3,100,1000", "numbers of nodes")
	f.StringVar(&rates, "rate", "10k,100k,1M", "commands per second of the client process")
	f.StringVar(&rtts, "rtt", "100us,1ms,10ms", "round trips of the network")
	f.IntVar(&c.Procs, "procs", 16, "the client's GOMAXPROCS")
	f.IntVar(&c.Burst, "burst", 1, "commands that come at the same moment")
	f.BoolVar(&c.Local, "local", false, "all commands of a burst go to one node, as with a hash tag")
	f.DurationVar(&c.Linger, "linger", 0, "WithLinger")
	f.Uint64Var(&c.Seed, "seed", 0, "of the random numbers")
	f.BoolVar(&o.measure, "measure", false, "first measure this machine with the real engine, and write the readings to -out; under three minutes")
	f.StringVar(&o.out, "out", "cmd/scalesim/measured.json", "where -measure writes")
	f.StringVar(&o.measured, "measured", "", "read the readings from this file (those that were built in)")
	f.StringVar(&o.write, "write", "", "write the tables between the markers of this page (../docs/scale.md) instead of printing one")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("arguments that are no flags: %q", f.Args())
	}
	if c.Procs < 1 || c.Burst < 1 || c.Linger < 0 {
		return nil, errors.New("-procs and -burst must be 1 or more, -linger 0 or more")
	}
	ns, err := split("nodes", nodes, count, 1, 10_000)
	if err != nil {
		return nil, err
	}
	rs, err := split("rate", rates, count, 1, 100_000_000)
	if err != nil {
		return nil, err
	}
	ts, err := split("rtt", rtts, span, 0, float64(10*time.Second))
	if err != nil {
		return nil, err
	}
	for _, n := range ns {
		for _, r := range rs {
			for _, t := range ts {
				c.Nodes, c.Rate, c.RTT = int(n), r, time.Duration(t)
				o.list = append(o.list, c)
			}
		}
	}
	return &o, nil
}

// split reads a comma-separated list.
func split(name, list string, parse func(string) (float64, error), least, most float64) (out []float64, err error) {
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		v, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("-%s: %q: %w", name, text, err)
		}
		if !(v >= least && v <= most) {
			return nil, fmt.Errorf("-%s: %q is out of range", name, text)
		}
		out = append(out, v)
	}
	return out, nil
}

// count reads 250, 10k, 1.5M.
func count(text string) (float64, error) {
	unit := 1.0
	switch {
	case strings.HasSuffix(text, "k"):
		unit, text = 1e3, strings.TrimSuffix(text, "k")
	case strings.HasSuffix(text, "M"):
		unit, text = 1e6, strings.TrimSuffix(text, "M")
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, errors.New("want a number such as 250, 10k or 1.5M")
	}
	return v * unit, nil
}

func span(text string) (float64, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("want a duration such as 100us or 1ms")
	}
	return float64(d), nil
}
