package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/probe"
	"github.com/goautopipe/redis-autopipe/bench/scale"
)

// The costs are read in closed loops, CPU time only: other programs on the machine disturb it much less than time by the
// clock. The loops take turns, and the median of the rounds counts.
//
// Batches and pipelines keep several nodes busy. With a single one client and server would take turns to sleep, and on a
// quiet machine a batch would cost twice as much, for processors that fall asleep and wake up.
const (
	busyNodes  = 4
	costRounds = 5
	costTime   = 300 * time.Millisecond
)

// loop is one closed loop.
type loop struct {
	callers int // over all nodes
	nodes   int
	size    int // of a pipeline by hand; 0 for single commands
	open    func(addr string, nodes int) *cluster
	into    func(*scale.CPU) *[]scale.Flush

	client *cluster
	hook   *autopipe.Hook
	seen   []scale.Flush
}

func plainPool(o *redis.ClusterOptions) { o.PoolSize = 128 }

func openPlain(addr string, nodes int) *cluster { return newCluster(nodes, addr, plainPool) }

func loops() []*loop {
	var list []*loop
	for _, n := range []int{1, 8, 64} {
		list = append(list, &loop{callers: n, nodes: 1, open: openPlain, into: func(c *scale.CPU) *[]scale.Flush { return &c.Plain }})
	}
	for _, n := range []int{1, 8} {
		l := &loop{callers: n, nodes: 1, into: func(c *scale.CPU) *[]scale.Flush { return &c.Lone }}
		l.attach()
		list = append(list, l)
	}
	for _, n := range []int{4, 16, 48, 128, 256} {
		l := &loop{
			callers: busyNodes * n, nodes: busyNodes, into: func(c *scale.CPU) *[]scale.Flush { return &c.Batch },
		}
		l.attach(autopipe.WithMaxInFlight(1)) // all callers of a batch wake together and make the next one
		list = append(list, l)
		list = append(list, &loop{
			callers: busyNodes, nodes: busyNodes, size: n, open: openPlain, into: func(c *scale.CPU) *[]scale.Flush { return &c.Pipeline },
		})
	}
	return list
}

func (l *loop) attach(opts ...autopipe.Option) {
	l.open = func(addr string, nodes int) *cluster {
		c := openPlain(addr, nodes)
		l.hook = autopipe.Attach(c.ClusterClient, opts...)
		return c
	}
}

// getter issues single commands.
type getter struct {
	rdb *cluster
	key string
}

func (g getter) Do(ctx context.Context) (int, error) {
	if err := g.rdb.Get(ctx, g.key).Err(); err != nil {
		return 0, err
	}
	return 1, nil
}

// piper issues pipelines.
type piper struct {
	rdb  *cluster
	key  string
	size int
}

func (p piper) Do(ctx context.Context) (int, error) {
	pipe := p.rdb.Pipeline()
	for range p.size {
		pipe.Get(ctx, p.key)
	}
	_, err := pipe.Exec(ctx)
	if err != nil {
		return 0, err
	}
	return p.size, nil
}

func (l *loop) run(ctx context.Context, server *probe.Server) error {
	var (
		from, to   probe.Process
		sfrom, sto probe.Counters
		before     autopipe.Stats
		failed     error
	)
	read := func(p *probe.Process, c *probe.Counters) {
		var err error
		if *c, err = server.Read(ctx); err != nil {
			failed = err
		}
		*p = probe.ReadProcess()
	}
	o := load.Options{
		Callers: l.callers, Duration: costTime, SampleEvery: 1 << 30,
		NewWorker: func(id int) load.Worker {
			key := l.client.keys[id%l.nodes]
			if l.size > 0 {
				return piper{l.client, key, l.size}
			}
			return getter{l.client, key}
		},
	}
	warm := o
	warm.Duration /= 6
	load.Run(ctx, warm)
	if l.hook != nil {
		before = l.hook.Stats()
	}
	o.Before = func() { read(&from, &sfrom) }
	o.After = func() { to = probe.ReadProcess(); sto, _ = server.Read(ctx) }
	r := load.Run(ctx, o)
	if r.Err != nil {
		failed = r.Err
	}
	if failed != nil || ctx.Err() != nil {
		return fmt.Errorf("closed loop of %d callers: %w", l.callers, firstError(failed, ctx.Err()))
	}
	flushes, size := float64(r.Executed), 1.0
	switch {
	case l.size > 0:
		size = float64(l.size)
		flushes /= size
	case l.hook != nil:
		after := l.hook.Stats()
		flushes = float64(after.Batches - before.Batches)
		size = float64(after.Commands-before.Commands) / flushes
	}
	l.seen = append(l.seen, scale.Flush{
		Callers: l.callers, Size: size,
		Client: time.Duration(float64(to.Sub(from).CPU) / flushes),
		Server: time.Duration(float64(sto.Sub(sfrom).CPU) / flushes),
	})
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// middle is the median round.
func (l *loop) middle() scale.Flush {
	var size, client, server []float64
	for _, f := range l.seen {
		size = append(size, f.Size)
		client = append(client, float64(f.Client))
		server = append(server, float64(f.Server))
	}
	return scale.Flush{
		Callers: l.callers, Size: round(median(size), 100),
		Client: time.Duration(median(client)), Server: time.Duration(median(server)),
	}
}

func measureCosts(ctx context.Context, addr string, say func(string, ...any)) (cpu scale.CPU, err error) {
	server := probe.NewServer(addr)
	defer server.Close()
	all := loops()
	for _, l := range all {
		l.client = l.open(addr, l.nodes)
		defer l.client.Close()
		if err := server.Fill(ctx, l.client.keys, value); err != nil {
			return cpu, err
		}
	}
	for i := range costRounds {
		say("costs: round %d of %d", i+1, costRounds)
		for j := range all {
			if err := all[(i+j)%len(all)].run(ctx, server); err != nil {
				return cpu, err
			}
		}
	}
	for _, l := range all {
		list := l.into(&cpu)
		*list = append(*list, l.middle())
	}
	client := func(f scale.Flush) time.Duration { return f.Client }
	cpu.BatchLine = scale.Fit(cpu.Batch, client)
	cpu.PipelineLine = scale.Fit(cpu.Pipeline, client)
	cpu.ServerLine = scale.Fit(cpu.Batch, func(f scale.Flush) time.Duration { return f.Server })
	return cpu, nil
}
