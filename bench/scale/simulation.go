package scale

import (
	"math/rand/v2"
	"time"
)

type simulation struct {
	cfg    Config
	clock  clock
	procs  processors
	lanes  []*lane
	rng    *rand.Rand
	result Result
	issued int
	warm   int // commands of the warm-up
}

// Run simulates c.
func Run(c Config) *Result {
	c = c.normal()
	s := &simulation{cfg: c, rng: rand.New(rand.NewPCG(c.Seed+1, 0x5ca1e))}
	s.procs = processors{clock: &s.clock, idle: c.Procs}
	s.warm = c.Commands / 5
	s.result.config = c
	servers := make([]*server, c.Servers)
	for i := range servers {
		servers[i] = &server{s: s}
	}
	for i := range c.Nodes {
		s.lanes = append(s.lanes, &lane{s: s, server: servers[i%c.Servers]})
	}
	s.clock.at(0, func() { s.source(s.gap()) })
	for s.clock.step() {
	}
	s.result.end = s.clock.now
	s.result.CoresBusy = float64(s.procs.busy) / float64(s.clock.now)
	for _, l := range s.lanes {
		s.result.MainConns += l.main.open
		s.result.PipelineConns += l.pipe.open
	}
	return &s.result
}

func (s *simulation) gap() time.Duration {
	return time.Duration(s.rng.ExpFloat64() * float64(time.Second) * float64(s.cfg.Burst) / s.cfg.Rate)
}

// source issues what is due, and sleeps until more is. due is when the next burst should come.
func (s *simulation) source(due time.Duration) {
	for due <= s.clock.now && s.issued < s.cfg.Commands {
		s.burst(due)
		due += s.gap()
	}
	if s.issued < s.cfg.Commands {
		s.clock.at(due+s.cfg.Oversleep, func() { s.source(due) })
	}
}

func (s *simulation) burst(due time.Duration) {
	l := s.any()
	for i := range s.cfg.Burst {
		if i > 0 && !s.cfg.Local {
			l = s.any()
		}
		if s.issued == s.warm {
			s.result.begin = due
		}
		s.issued++
		s.result.last = due
		s.procs.run(l.issue(command{due: due, counted: s.issued > s.warm}))
	}
}

func (s *simulation) any() *lane { return s.lanes[s.rng.IntN(len(s.lanes))] }

// done is the moment at which a caller has its reply.
func (s *simulation) done(c command, now time.Duration) {
	if c.counted {
		s.result.Latency.Record(now - c.due)
	}
}

// server runs one request after the other, as Redis does.
type server struct {
	s     *simulation
	free  time.Duration // when it has finished what it has, if it has a processor of its own
	busy  bool          // else: it waits for one or has one
	queue fifo[request]
}

type request struct {
	cost  time.Duration
	reply func()
}

// wayBack is the network's part of a round trip after the server's.
func (s *simulation) wayBack() time.Duration {
	d := s.cfg.RTT / 2
	if s.cfg.Jitter > 0 {
		d += time.Duration(s.rng.ExpFloat64() * float64(s.cfg.Jitter))
	}
	return d
}

// send puts n commands on the wire; reply is called when their replies are at the client.
func (v *server) send(n int, reply func()) {
	c := &v.s.cfg.Costs
	r := request{c.ServerFixed + time.Duration(n)*c.ServerPerCommand, reply}
	v.s.clock.at(v.s.clock.now+v.s.cfg.RTT/2, func() {
		if !v.s.cfg.SharedProcs {
			v.free = max(v.free, v.s.clock.now) + r.cost
			v.s.clock.at(v.free+v.s.wayBack(), r.reply)
			return
		}
		v.queue.push(r)
		if !v.busy {
			v.busy = true
			v.s.procs.run(v.serve)
		}
	})
}

func (v *server) serve() (time.Duration, step) {
	r := v.queue.pop()
	return r.cost, func() (time.Duration, step) {
		v.s.clock.at(v.s.clock.now+v.s.wayBack(), r.reply)
		if v.queue.len() == 0 {
			v.busy = false
			return 0, nil
		}
		v.s.procs.run(v.serve) // behind the clients that are ready
		return 0, nil
	}
}
