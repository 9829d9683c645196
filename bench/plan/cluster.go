package plan

import (
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

// Cluster is what a plan measures on a Redis Cluster. Rounds and their length are the
// plan's.
type Cluster struct {
	Scenarios []Scenario
	// Paused is the load under which one node is paused; Pauses, how often for each
	// variant, so long each. No pauses: not measured.
	Paused   Scenario
	Pauses   int
	PauseFor time.Duration
}

// OnCluster is the cluster's part of the published plans. Masters, drivers and clients share
// the processors, so it says how the ways to use a cluster compare, not how fast a cluster is.
func OnCluster() *Cluster {
	return &Cluster{
		Scenarios: Expand(
			Block{[]int{64, 256, 2000}, sets, small, direct, closed},
			Block{[]int{256}, []load.Mix{load.Get}, small, direct, closed},
		),
		Paused: Scenario{Callers: 192, Mix: load.Mixed, Size: 16},
		Pauses: 3, PauseFor: 500 * time.Millisecond,
	}
}

// estimate how long it takes with so many variants, of which some take no part in pauses.
func (c *Cluster) estimate(p *Plan, variants, pausable int) time.Duration {
	if c == nil {
		return 0
	}
	const each = 200 * time.Millisecond // of getting callers stuck and free again
	return time.Duration(len(c.Scenarios)*variants)*p.perScenario() +
		time.Duration(c.Pauses*pausable)*(2*c.PauseFor+each)
}

// EstimateCluster is how long the cluster's part takes.
func (p *Plan) EstimateCluster(variants, pausable int) time.Duration {
	return p.Cluster.estimate(p, variants, pausable)
}
