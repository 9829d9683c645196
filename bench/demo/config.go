package demo

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/rival"
)

// Config of a Demo. See the flags for what each means.
type Config struct {
	Redis     []string // host:port, at least one
	Listen    string   // host:port of /metrics
	Callers   int
	Rate      float64       // commands per second in a healthy phase
	Cycle     time.Duration // of all four phases
	Duration  time.Duration // 0: until the context ends
	Scenarios []*rival.Variant
	Slot      time.Duration // how long a scenario runs at a time
	Traces    float64       // share of operations whose callers are sampled

	OTLPMetrics, OTLPTraces string // URLs; "" for none
	OTLPEvery               time.Duration
	Pyroscope               string // URL; "" for none
}

const usage = `Usage: demoload [flags]

A load on a Redis that shows everything autopipe can tell, for dashboards to be looked at with.
It serves /metrics (Prometheus and OpenMetrics with exemplars), /healthz, /stats and /debug/pprof/ until it is stopped.
It writes keys below "demo:" and leaves them there, at most some megabytes.

`

// ParseFlags makes a Config of command line arguments. Its error is flag.ErrHelp if help was asked for.
func ParseFlags(args []string, out io.Writer) (Config, error) {
	var c Config
	fs := flag.NewFlagSet("demoload", flag.ContinueOnError)
	fs.SetOutput(out)
	fs.Usage = func() { fmt.Fprint(out, usage); fs.PrintDefaults() }
	addrs := fs.String("redis", "127.0.0.1:6379", "`addresses` of Redis, host:port; with several, separated by commas, the nodes of the pipe \"sessions\" are spread over them")
	fs.StringVar(&c.Listen, "listen", ":9464", "`address` of the HTTP server")
	fs.IntVar(&c.Callers, "callers", 256, "goroutines that send commands, 4 to 10000")
	fs.Float64Var(&c.Rate, "rate", 12000, "commands per second in a healthy phase, 100 to 1000000; a burst has three times as many")
	fs.DurationVar(&c.Cycle, "cycle", time.Minute, "`time` in which the load goes through all its phases, at least 10s")
	fs.DurationVar(&c.Duration, "duration", 0, "stop after this `time`; 0 runs until it is interrupted")
	scenarios := fs.String("scenarios", "plain,goredis,autopipe,autopipe-window", "`variants` of the benchmark to run side by side, a slot at a time; \"\" for none")
	fs.DurationVar(&c.Slot, "slot", 100*time.Millisecond, "`time` that a scenario runs at full speed; each second has one slot")
	fs.Float64Var(&c.Traces, "traces", 0.002, "share of the operations that are sampled: spans and exemplars")
	otlp := fs.String("otlp", "", "`URL` of an OpenTelemetry endpoint for metrics and traces: http://host:4318, or grpc://host:4317")
	fs.StringVar(&c.OTLPMetrics, "otlp-metrics", "", "`URL` for metrics only, with its path, such as http://host:9090/api/v1/otlp/v1/metrics (default -otlp)")
	fs.StringVar(&c.OTLPTraces, "otlp-traces", "", "`URL` for traces only (default -otlp)")
	fs.DurationVar(&c.OTLPEvery, "otlp-every", 5*time.Second, "`time` between two exports of metrics")
	fs.StringVar(&c.Pyroscope, "pyroscope", "", "`URL` of a Pyroscope server that gets profiles")
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	if fs.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	for a := range strings.SplitSeq(*addrs, ",") {
		if a = strings.TrimSpace(a); a != "" {
			c.Redis = append(c.Redis, a)
		}
	}
	if *scenarios != "" {
		var err error
		if c.Scenarios, err = rival.Select(*scenarios); err != nil {
			return c, err
		}
	}
	if c.OTLPMetrics == "" {
		c.OTLPMetrics = *otlp
	}
	if c.OTLPTraces == "" {
		c.OTLPTraces = *otlp
	}
	return c, c.check()
}

func (c *Config) check() error {
	switch {
	case len(c.Redis) == 0:
		return errors.New("-redis names no address")
	case c.Callers < 4 || c.Callers > 10_000:
		return errors.New("-callers must be from 4 to 10000")
	case c.Rate < 100 || c.Rate > 1e6:
		return errors.New("-rate must be from 100 to 1000000")
	case c.Cycle < 10*time.Second:
		return errors.New("-cycle must be at least 10s: the faults of one cycle need that long")
	case c.Duration < 0:
		return errors.New("-duration must not be negative")
	case c.Slot < time.Millisecond || c.Slot > time.Second:
		return errors.New("-slot must be from 1ms to 1s")
	case c.Traces < 0 || c.Traces > 1:
		return errors.New("-traces must be from 0 to 1")
	case c.OTLPEvery < 100*time.Millisecond:
		return errors.New("-otlp-every must be at least 100ms")
	}
	for _, v := range c.Scenarios {
		if v.Missing != "" {
			return fmt.Errorf("-scenarios: %s cannot run: %s", v.Name, v.Missing)
		}
	}
	for name, text := range map[string]string{"otlp-metrics": c.OTLPMetrics, "otlp-traces": c.OTLPTraces, "pyroscope": c.Pyroscope} {
		if text == "" {
			continue
		}
		u, err := url.Parse(text)
		if err != nil {
			return fmt.Errorf("-%s: %w", name, err)
		}
		grpc := u.Scheme == "grpc" && name != "pyroscope"
		if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && !grpc {
			return fmt.Errorf("-%s: %q is no URL of a server", name, text)
		}
	}
	return nil
}
