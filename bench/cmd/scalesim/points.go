package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/probe"
	"github.com/goautopipe/redis-autopipe/bench/scale"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

const (
	pointRounds = 3
	pointTime   = time.Second
	warmTime    = 300 * time.Millisecond
	driverTime  = 400 * time.Millisecond
)

const value = "0123456789abcdef"

// points to measure: rates that two processors can serve, on which client, server and link all run.
func points() []*scale.Point {
	const ms = time.Millisecond
	return []*scale.Point{
		{Nodes: 1, Rate: 5_000}, {Nodes: 1, Rate: 20_000}, {Nodes: 1, Rate: 50_000},
		{Nodes: 1, Delay: ms, Rate: 2_000}, {Nodes: 1, Delay: ms, Rate: 10_000}, {Nodes: 1, Delay: ms, Rate: 40_000},
		{Nodes: 1, Delay: 10 * ms, Rate: 500}, {Nodes: 1, Delay: 10 * ms, Rate: 5_000}, {Nodes: 1, Delay: 10 * ms, Rate: 40_000},
		{Nodes: 3, Delay: ms, Rate: 40_000}, {Nodes: 10, Delay: 10 * ms, Rate: 40_000}, {Nodes: 100, Delay: 10 * ms, Rate: 20_000},
	}
}

// measureLinks takes the round trip of a lone caller.
func measureLinks(ctx context.Context, srv *target.Redis, list []*scale.Point) (links []scale.Link, err error) {
	seen := map[time.Duration]bool{}
	for _, p := range list {
		if seen[p.Delay] {
			continue
		}
		seen[p.Delay] = true
		addr, err := srv.Via(p.Delay)
		if err != nil {
			return nil, err
		}
		c := newCluster(1, addr)
		autopipe.Attach(c.ClusterClient)
		r := load.Run(ctx, load.Options{
			Callers: 1, Duration: pointTime, SampleEvery: 1,
			NewWorker: func(int) load.Worker { return getter{c, c.keys[0]} },
		})
		c.Close()
		if r.Err != nil {
			return nil, fmt.Errorf("link of %v: %w", p.Delay, r.Err)
		}
		links = append(links, scale.Link{Delay: p.Delay, Trip: r.Latency.Quantile(0.5)})
	}
	return links, nil
}

// measurePoint runs the real engine and a plain client in turn.
func measurePoint(ctx context.Context, srv *target.Redis, p *scale.Point) error {
	addr, err := srv.Via(p.Delay)
	if err != nil {
		return err
	}
	var driver, oversleep []float64
	var attach, plain []scale.Reading
	for i := range pointRounds {
		s := source{
			rate: p.Rate, time: pointTime, nodes: p.Nodes, seed: uint64(i),
			// Twice as many as can be under way: a command that waits for a caller would not be an open loop's.
			callers: 64 + int(2*p.Rate*(p.Delay.Seconds()+0.002)),
		}
		idle := s
		idle.time = driverTime
		cpu, _, err := costOf(ctx, idle)
		if err != nil {
			return err
		}
		driver = append(driver, float64(cpu))
		for _, with := range []bool{i%2 == 0, i%2 != 0} {
			r, late, err := reading(ctx, addr, p.Nodes, s, with, cpu)
			if err != nil {
				return fmt.Errorf("%d nodes, %v commands/s, %v: %w", p.Nodes, p.Rate, p.Delay, err)
			}
			if with {
				attach = append(attach, r)
				oversleep = append(oversleep, float64(late))
			} else {
				plain = append(plain, r)
			}
		}
	}
	p.Driver, p.Oversleep = time.Duration(median(driver)), time.Duration(median(oversleep))
	p.Attach, p.Plain = medianOf(attach), medianOf(plain)
	return nil
}

// costOf is the CPU time per command of the source; without anything to do if s.do is nil.
func costOf(ctx context.Context, s source) (time.Duration, *issued, error) {
	if s.do == nil {
		s.do = func(context.Context, int) error { return nil }
	}
	before := probe.ReadProcess()
	out := s.run(ctx)
	cpu := probe.ReadProcess().Sub(before).CPU
	if err := firstError(out.err, ctx.Err()); err != nil {
		return 0, nil, err
	}
	return cpu / time.Duration(max(out.commands, 1)), out, nil
}

func reading(ctx context.Context, addr string, nodes int, s source, attach bool, driver time.Duration) (r scale.Reading, late time.Duration, err error) {
	c := newCluster(nodes, addr, func(o *redis.ClusterOptions) { o.PoolSize = 1000 })
	defer c.Close()
	s.do = func(ctx context.Context, node int) error {
		err := c.Get(ctx, c.keys[node]).Err()
		if err == redis.Nil {
			return nil
		}
		return err
	}
	var before autopipe.Stats
	var ap *autopipe.Hook
	if attach {
		ap = autopipe.Attach(c.ClusterClient)
	}
	warm := s
	warm.time, warm.seed = warmTime, s.seed+1000
	if out := warm.run(ctx); out.err != nil {
		return r, 0, out.err
	}
	if attach {
		before = ap.Stats()
	}
	cpu, out, err := costOf(ctx, s)
	if err != nil {
		return r, 0, err
	}
	r = scale.Reading{
		Rate: round(float64(out.commands)/out.elapsed.Seconds(), 1), Depth: 1, CPU: cpu - driver, Latency: out.latency.Quantile(0.5),
	}
	if attach {
		after := ap.Stats()
		r.Depth = round(float64(after.Commands-before.Commands)/float64(after.Batches-before.Batches), 100)
		r.WaitP50, r.WaitP99 = after.QueueWait.P50, after.QueueWait.P99
	}
	pools := c.PoolStats()
	r.Regular = float64(pools.TotalConns)
	if pools.PipelineStats != nil {
		r.Pipeline = float64(pools.PipelineStats.TotalConns)
	}
	return r, out.oversleep, nil
}

func medianOf(list []scale.Reading) scale.Reading {
	of := func(field func(scale.Reading) float64) float64 {
		var v []float64
		for _, r := range list {
			v = append(v, field(r))
		}
		return median(v)
	}
	span := func(field func(scale.Reading) time.Duration) time.Duration {
		return time.Duration(of(func(r scale.Reading) float64 { return float64(field(r)) }))
	}
	return scale.Reading{
		Rate:     of(func(r scale.Reading) float64 { return r.Rate }),
		Depth:    of(func(r scale.Reading) float64 { return r.Depth }),
		CPU:      span(func(r scale.Reading) time.Duration { return r.CPU }),
		WaitP50:  span(func(r scale.Reading) time.Duration { return r.WaitP50 }),
		WaitP99:  span(func(r scale.Reading) time.Duration { return r.WaitP99 }),
		Latency:  span(func(r scale.Reading) time.Duration { return r.Latency }),
		Regular:  of(func(r scale.Reading) float64 { return r.Regular }),
		Pipeline: of(func(r scale.Reading) float64 { return r.Pipeline }),
	}
}

// round to the given number of parts of one.
func round(v, parts float64) float64 { return math.Round(v*parts) / parts }
