// Package measure runs one variant in one scenario and takes all readings of it.
package measure

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/probe"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

// Session keeps the clients of all variants open, so that rounds can alternate
// between them without connecting anew.
type Session struct {
	// Context that the callers hand to their client; nil is the background context.
	Context context.Context
	// Wrap, if set, puts something between the callers and every worker: spans, say.
	Wrap func(load.Worker) load.Worker

	redis   *target.Redis
	server  *probe.Server
	pool    int
	delay   time.Duration
	clients map[string]rival.Client
	filled  map[int]bool
}

// Open a session on a server. pool is the connections each pooling client may open.
func Open(r *target.Redis, pool int) *Session {
	return &Session{
		redis: r, server: probe.NewServer(r.Addr()), pool: pool,
		clients: map[string]rival.Client{}, filled: map[int]bool{},
	}
}

// Server of the session, to ask it about itself.
func (s *Session) Server() *probe.Server { return s.server }

// Close all clients. The server stays.
func (s *Session) Close() error {
	err := s.closeClients()
	if e := s.server.Close(); err == nil {
		err = e
	}
	return err
}

func (s *Session) closeClients() (err error) {
	for name, c := range s.clients {
		if e := c.Close(); err == nil && e != nil {
			err = fmt.Errorf("close %s: %w", name, e)
		}
	}
	clear(s.clients)
	return err
}

// client of a variant, on the link that the scenario asks for.
func (s *Session) client(v *rival.Variant, delay time.Duration) (rival.Client, error) {
	if delay != s.delay {
		// Hundreds of connections per variant: those of another link make room.
		if err := s.closeClients(); err != nil {
			return nil, err
		}
		s.delay = delay
	}
	if c := s.clients[v.Name]; c != nil {
		return c, nil
	}
	addr, err := s.redis.Via(delay)
	if err != nil {
		return nil, err
	}
	c, err := v.Open(rival.Setup{Addr: addr, Pool: s.pool})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", v.Name, err)
	}
	s.clients[v.Name] = c
	return c, nil
}

// Report of a variant's client about itself; nil if it has none.
func (s *Session) Report(v *rival.Variant) any {
	if r, ok := s.clients[v.Name].(rival.Reporter); ok {
		return r.Report()
	}
	return nil
}

// Warm up a variant: its connections, its pools, the processor's caches. What was
// measured is thrown away.
func (s *Session) Warm(ctx context.Context, v *rival.Variant, sc plan.Scenario, d time.Duration) error {
	_, err := s.Round(ctx, v, sc, d)
	return err
}

// Round measures a variant once.
func (s *Session) Round(ctx context.Context, v *rival.Variant, sc plan.Scenario, d time.Duration) (Round, error) {
	c, err := s.client(v, sc.Delay)
	if err != nil {
		return Round{}, err
	}
	n := v.Callers(sc.Callers)
	work := load.NewWork(sc.Mix, sc.Size, n)
	if !s.filled[sc.Size] {
		if err := s.server.Fill(ctx, work.Keys, work.Value); err != nil {
			return Round{}, err
		}
		s.filled[sc.Size] = true
	}
	opt := load.Options{
		Callers: n, Duration: d, Rate: sc.Rate, Context: s.Context,
		NewWorker: func(id int) load.Worker {
			w := c.Worker(work, id)
			if s.Wrap != nil {
				w = s.Wrap(w)
			}
			return w
		},
	}
	if v.Windowed {
		opt.SampleEvery = 1 // one clock reading per window is nothing
	}
	before, err := s.server.Read(ctx)
	if err != nil {
		return Round{}, err
	}
	var start, used probe.Process
	var busy time.Duration
	opt.Before = func() {
		// The last round's garbage is not this one's to sweep.
		runtime.GC()
		busy = probe.BusyTime()
		start = probe.ReadProcess()
	}
	opt.After = func() {
		used = probe.ReadProcess().Sub(start)
		busy = probe.BusyTime() - busy
	}
	res := load.Run(ctx, opt)
	after, err := s.server.Read(ctx)
	if err != nil {
		return Round{}, err
	}
	if err := ctx.Err(); err != nil {
		return Round{}, err
	}
	out := newRound(res, used, after.Sub(before), work.Window, n)
	if s.redis.Own() && sc.Delay == 0 {
		// The link's process counts as another program, so its rounds say nothing here.
		out.Others = others(busy-used.CPU-after.CPU+before.CPU, res.Elapsed)
	}
	return out, nil
}
