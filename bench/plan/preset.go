package plan

import (
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

// Plan is a whole comparison.
type Plan struct {
	Name      string
	Scenarios []Scenario
	Rounds    int
	Duration  time.Duration // of one round of one variant
	Warmup    time.Duration // before the first round of a scenario
	// Cluster is the part that is measured on a cluster; nil for none.
	Cluster *Cluster
	// Budget, if set, bounds the whole: Fit shortens the rounds.
	Budget time.Duration
	// Published plans are those whose results go into the repository.
	Published bool
}

var (
	callers  = []int{1, 2, 4, 8, 16, 64, 256, 2000}
	closed   = []float64{0}
	direct   = []time.Duration{0}
	small    = []int{16}
	sets     = []load.Mix{load.Set}
	allMixes = []load.Mix{load.Set, load.Get, load.Mixed}
)

// Quick is a look, for every day: under two minutes with all rivals.
func Quick() Plan {
	return Plan{
		Name: "quick",
		Scenarios: Expand(
			Block{[]int{1, 8, 256, 2000}, sets, small, direct, closed},
			Block{[]int{256}, sets, small, []time.Duration{time.Millisecond}, closed},
		),
		Rounds: 3, Duration: time.Second, Warmup: 100 * time.Millisecond,
		// The rest of the two minutes is for the compiler.
		Budget: 80 * time.Second,
	}
}

// Standard is what the README quotes: the sweep over callers, and each other
// dimension at 256 callers.
func Standard() Plan {
	busy := []int{256}
	return Plan{
		Name: "standard",
		Scenarios: Expand(
			Block{callers, sets, small, direct, closed},
			// The windowed faces are compared at this many.
			Block{[]int{500}, sets, small, direct, closed},
			Block{busy, allMixes, small, direct, closed},
			Block{busy, sets, []int{1 << 10, 64 << 10}, direct, closed},
			Block{[]int{1, 16, 64, 256, 2000}, sets, small, []time.Duration{time.Millisecond}, closed},
			Block{[]int{64, 256, 2000}, sets, small, []time.Duration{10 * time.Millisecond}, closed},
			Block{busy, sets, small, direct, []float64{20_000}},
		),
		Rounds: 5, Duration: 700 * time.Millisecond, Warmup: 300 * time.Millisecond, Cluster: OnCluster(), Published: true,
	}
}

// Full covers every dimension with every number of callers; it takes hours.
func Full() Plan {
	some := []int{1, 8, 64, 256, 2000}
	delays := []time.Duration{200 * time.Microsecond, time.Millisecond, 10 * time.Millisecond}
	return Plan{
		Name: "full",
		Scenarios: Expand(
			Block{callers, allMixes, small, direct, closed},
			Block{[]int{500}, sets, small, direct, closed},
			Block{some, allMixes, []int{1 << 10, 64 << 10}, direct, closed},
			Block{callers, sets, small, delays, closed},
			Block{some, []load.Mix{load.Mixed}, []int{1 << 10}, delays, closed},
			Block{[]int{256, 2000}, sets, small, direct, []float64{5_000, 20_000, 50_000, 100_000}},
			Block{[]int{256}, sets, small, delays, []float64{20_000}},
		),
		Rounds: 7, Duration: time.Second, Warmup: 300 * time.Millisecond, Cluster: OnCluster(), Published: true,
	}
}

// overhead of one round beside its duration: collection before it, counters, the
// drain after it.
const overhead = 60 * time.Millisecond

// shortest round that still says something.
const shortest = 100 * time.Millisecond

// perScenario is how long one variant takes in one scenario.
func (p *Plan) perScenario() time.Duration {
	return p.Warmup + time.Duration(p.Rounds)*(p.Duration+overhead) + overhead
}

// Estimate how long the plan takes with so many variants, without the cluster's part.
func (p *Plan) Estimate(variants int) time.Duration {
	return time.Duration(len(p.Scenarios)*variants) * p.perScenario()
}

// Fit shortens the rounds until the plan meets its budget, if it has one.
func (p *Plan) Fit(variants int) {
	runs := time.Duration(len(p.Scenarios) * variants * p.Rounds)
	if p.Budget <= 0 || runs == 0 {
		return
	}
	if over := p.Estimate(variants) - p.Budget; over > 0 {
		p.Duration = max(p.Duration-over/runs-1, shortest)
	}
}
