package report

import (
	"fmt"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/stat"
)

// Bar is a speed that the design says must be reached, and how it was met.
type Bar struct {
	What     string
	Bar, Aim string
	Measured string // empty: this run has no such scenario
	Met      bool
}

// bar compares a metric of two variants in one scenario.
type bar struct {
	what          string
	callers       int
	delay         time.Duration
	metric        Metric
	ours, against string
	bar, aim      float64
	less          bool // less is better
}

var bars = []bar{
	{"256 callers, SET: throughput over a plain client", 256, 0, Rate, "autopipe", "plain", 8, 12, false},
	{"2000 callers, SET: throughput over a plain client", 2000, 0, Rate, "autopipe", "plain", 7, 10, false},
	{"256 callers, SET: throughput over go-redis AutoPipeline()", 256, 0, Rate, "autopipe", "goredis", 2, 2.5, false},
	{"2000 callers, SET: throughput over go-redis AutoPipeline()", 2000, 0, Rate, "autopipe", "goredis", 1.15, 1.5, false},
	{"256 callers, SET: throughput over rueidis", 256, 0, Rate, "autopipe", "rueidis", 2, 2.5, false},
	{"2000 callers, SET: throughput over rueidis", 2000, 0, Rate, "autopipe", "rueidis", 1.1, 1.5, false},
	{"256 callers: client CPU per command over a hand-written pipeline of 200", 256, 0, CPU, "autopipe", "pipeline", 2.5, 1.8, true},
	{"500 callers, windows of 200: throughput over go-redis AsyncAutoPipeline()", 500, 0, Rate, "autopipe-window", "goredis-async", 1.3, 1.6, false},
	{"1 caller: throughput over a plain client", 1, 0, Rate, "autopipe", "plain", 1, 1, false},
	{"2 callers: throughput over a plain client", 2, 0, Rate, "autopipe", "plain", 1, 1, false},
	{"4 callers: throughput over a plain client", 4, 0, Rate, "autopipe", "plain", 1, 1, false},
	{"8 callers: throughput over a plain client", 8, 0, Rate, "autopipe", "plain", 1, 2, false},
	{"1 caller: p50 latency over a plain client", 1, 0, P50, "autopipe", "plain", 1.03, 1.01, true},
	{"1 caller: allocations per command over a plain client", 1, 0, Allocs, "autopipe", "plain", 1, 1, true},
	{"256 callers: throughput with all observers over none", 256, 0, Rate, "autopipe-observed", "autopipe", 0.95, 0.98, false},
	{"256 callers: allocations per command with all observers over none", 256, 0, Allocs, "autopipe-observed", "autopipe", 1, 1, true},
	{"256 callers, 1 ms link: throughput over go-redis full duplex", 256, time.Millisecond, Rate, "autopipe", "goredis-fullduplex", 1, 1.2, false},
}

// tolerance of a bar: what allocations of the runtime and the drivers, or the last
// digit, may add to a ratio whose bar is exactly met.
const tolerance = 0.01

func (b bar) scenario() plan.Scenario {
	return plan.Scenario{Callers: b.callers, Mix: load.Set, Size: 16, Delay: b.delay}
}

func (b bar) check(r *Results) Bar {
	out := Bar{What: b.what, Bar: digits(b.bar) + "x", Aim: digits(b.aim) + "x"}
	ours, other := r.Find(b.scenario(), b.ours), r.Find(b.scenario(), b.against)
	if ours == nil || other == nil {
		return out
	}
	s := ours.Over(other, b.metric)
	if s.N == 0 {
		return out
	}
	out.Measured = ratio(s)
	out.Met = s.Median >= b.bar-tolerance
	if b.less {
		out.Met = s.Median <= b.bar+tolerance
	}
	return out
}

// Bars of the design, in its order.
func (r *Results) Bars() []Bar {
	var out []Bar
	for _, b := range bars {
		out = append(out, b.check(r))
	}
	return append(out, r.roundTripBar())
}

// roundTripBar is the one that compares with the link itself: the round trip that a lone caller of a plain client
// measures on it, in the same run. That is more than what the link adds, by the way through it and the server.
func (r *Results) roundTripBar() Bar {
	const delay = time.Millisecond
	out := Bar{What: "256 callers, 1 ms link: p50 latency over the round trip of a lone caller", Bar: "1.30x", Aim: "1.30x"}
	busy := plan.Scenario{Callers: 256, Mix: load.Set, Size: 16, Delay: delay}
	lone := busy
	lone.Callers = 1
	ours, link := r.Find(busy, "autopipe"), r.Find(lone, "plain")
	if ours == nil || link == nil {
		return out
	}
	trip := stat.Of(link.Each(P50)).Median
	trips := ours.Each(P50)
	for i := range trips {
		trips[i] /= trip
	}
	s := stat.Of(trips)
	out.Measured, out.Met = ratio(s), s.Median <= 1.3+tolerance
	return out
}

// Loss is a comparison that we lose.
type Loss struct {
	Scenario plan.Scenario
	Rival    Variant
	Metric   string
	Ours     string
	Theirs   string
	// Ratio is ours over theirs.
	Ratio stat.Spread
}

// String for a list.
func (l Loss) String() string {
	return fmt.Sprintf("%s, against %s: %s %s, theirs %s (%s)",
		l.Scenario.Words(), l.Rival.Title, l.Metric, l.Ours, l.Theirs, ratio(l.Ratio))
}
