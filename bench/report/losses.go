package report

import (
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/stat"
)

// Opponent of a rival is that variant of ours which does the same job: a windowed
// face is compared with a windowed face. Empty for our own variants.
func Opponent(rival Variant) string {
	switch {
	case rival.Ours:
		return ""
	case rival.Windowed:
		return "autopipe-window"
	}
	return "autopipe"
}

// contest is a metric in which we can win or lose.
type contest struct {
	name   string
	metric Metric
	less   bool // less is better
	format func(float64) string
}

var contests = []contest{
	{"commands/s", Rate, false, count},
	{"client CPU per command", CPU, true, duration},
	{"p99", P99, true, duration},
}

// verdict of ours against theirs.
func (c contest) verdict(ours, theirs *Measured) stat.Verdict {
	if c.less {
		return theirs.Over(ours, c.metric).Judge()
	}
	return ours.Over(theirs, c.metric).Judge()
}

// meaningful reports whether the contest can be held in a scenario: arrivals fix the
// throughput of an open loop, and the latency of windows is no command's.
func (c contest) meaningful(sc plan.Scenario, rival Variant) bool {
	switch c.name {
	case "commands/s":
		return sc.Rate == 0
	case "p99":
		return !rival.Windowed
	}
	return true
}

// Losses are all comparisons that we lose, in the order of the tables.
func (r *Results) Losses() []Loss {
	var out []Loss
	for _, sc := range r.Scenarios() {
		for _, v := range r.Variants {
			for _, c := range contests {
				if r.verdict(c, sc, v) != stat.Loses {
					continue
				}
				ours, theirs := r.Find(sc, Opponent(v)), r.Find(sc, v.Name)
				out = append(out, Loss{
					Scenario: sc, Rival: v, Metric: c.name,
					Ours: c.format(ours.Of(c.metric).Median), Theirs: c.format(theirs.Of(c.metric).Median),
					Ratio: ours.Over(theirs, c.metric),
				})
			}
		}
	}
	return out
}

func (r *Results) verdict(c contest, sc plan.Scenario, rival Variant) stat.Verdict {
	ours, theirs := r.Find(sc, Opponent(rival)), r.Find(sc, rival.Name)
	if ours == nil || theirs == nil || !c.meaningful(sc, rival) {
		return stat.Absent
	}
	return c.verdict(ours, theirs)
}
