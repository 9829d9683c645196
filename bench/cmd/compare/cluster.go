package main

import (
	"context"
	"fmt"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/measure"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/report"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

// cluster runs the plan's part on a cluster, which is there only meanwhile: three idle
// servers would not disturb the rest, but why have them.
func (c *comparison) cluster(ctx context.Context, addrs string, pool int, callers context.Context) error {
	part := c.plan.Cluster
	if part == nil {
		return nil
	}
	redis, err := target.OpenCluster(addrs)
	if err != nil {
		return err
	}
	defer redis.Close()
	session, err := measure.OpenCluster(ctx, redis, pool)
	if err != nil {
		return err
	}
	defer session.Close()
	session.Context = callers
	r := &report.Cluster{Masters: session.Masters()}
	variants := rival.Clusters()
	var pausable []*rival.Variant
	for _, v := range variants {
		r.Variants = append(r.Variants, report.VariantOf(v))
		if !v.Windowed { // a window spreads over all nodes, the silent one too
			pausable = append(pausable, v)
		}
	}
	c.results.Cluster = r
	fmt.Fprintf(c.out, "\ncluster of %d masters: %d scenarios, %d variants; about %v\n",
		r.Masters, len(part.Scenarios), len(variants), c.plan.EstimateCluster(len(variants), len(pausable)).Round(time.Second))
	for _, sc := range part.Scenarios {
		measured, err := c.alternate(ctx, sc, variants, "cluster, "+sc.Words(), session)
		c.progress.clear()
		if err != nil {
			c.note("The cluster's part ended early, in the scenario of %s: %v", sc.Words(), err)
			return err
		}
		r.Measured = append(r.Measured, measured...)
		if err := r.Table(c.out, sc, "plain"); err != nil {
			return err
		}
	}
	if part.Pauses == 0 {
		return nil
	}
	err = c.pauses(ctx, part, pausable, session)
	c.progress.clear()
	if err != nil {
		c.note("The cluster's part ended early, with a node paused: %v", err)
		return err
	}
	return r.PauseTable(c.out)
}

// pauses measures what a silent node costs the callers of the others.
func (c *comparison) pauses(ctx context.Context, part *plan.Cluster, variants []*rival.Variant, session *measure.Cluster) error {
	all := make([]*report.Paused, len(variants))
	for i, v := range variants {
		all[i] = &report.Paused{Scenario: part.Paused, Variant: v.Name}
		if _, err := session.Round(ctx, v, part.Paused, c.plan.Warmup); err != nil {
			return err
		}
	}
	for round := range part.Pauses {
		for k := range variants {
			i := (k + round) % len(variants)
			c.progress.step("cluster, one node paused", variants[i].Name, fmt.Sprintf("round %d/%d", round+1, part.Pauses))
			p, err := session.Pause(ctx, variants[i], part.Paused, part.PauseFor)
			if err != nil {
				return err
			}
			all[i].Rounds = append(all[i].Rounds, p)
		}
	}
	c.results.Cluster.Paused = all
	return nil
}

// rounds is a session, on a server or on a cluster.
type rounds interface {
	Round(context.Context, *rival.Variant, plan.Scenario, time.Duration) (measure.Round, error)
	Report(*rival.Variant) any
}
