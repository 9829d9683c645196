package scale

import "time"

// command is one caller's.
type command struct {
	due      time.Duration // when the caller wanted it
	admitted time.Duration
	counted  bool // it came after the warm-up
}

// issue is a caller's goroutine with its command: the driver's work, then admission.
func (l *lane) issue(c command) step {
	return func() (time.Duration, step) {
		return l.s.cfg.Costs.Driver, func() (time.Duration, step) { return l.admit(c) }
	}
}

func (l *lane) admit(c command) (time.Duration, step) {
	c.admitted = l.s.clock.now
	costs := &l.s.cfg.Costs
	switch {
	case l.s.cfg.Plain:
		l.inFlight++
		return l.alone(c, costs.Plain)
	case l.lone():
		l.inFlight++
		l.wire++
		l.lastCut = c.admitted
		return l.alone(c, costs.Lone)
	}
	l.q.push(c)
	l.kick()
	return costs.PerCommand / stageShare, nil
}

// alone is a command that travels by itself, on its caller's goroutine.
func (l *lane) alone(c command, cost time.Duration) (time.Duration, step) {
	cut := l.s.clock.now
	l.main.take()
	if c.counted {
		l.s.result.flush(1, cost)
		l.s.result.wait(0)
	}
	send := cost / sendShare
	return send, func() (time.Duration, step) {
		l.server.send(1, func() {
			l.s.procs.run(func() (time.Duration, step) {
				return cost - send, func() (time.Duration, step) {
					now := l.s.clock.now
					l.main.used--
					l.inFlight--
					l.s.done(c, now)
					l.s.result.trip(c.counted, now-cut)
					if !l.s.cfg.Plain {
						l.wire--
						l.trip.add(cut, now-cut)
						l.kick()
					}
					return 0, nil
				}
			})
		})
		return 0, nil
	}
}

// kick starts a runner if commands are queued, nobody gathers them and a place is free.
func (l *lane) kick() {
	switch {
	case l.q.len() > 0 && !l.gathering && l.place():
		l.inFlight++
		l.gathering = true
		l.s.procs.run(l.gather)
	case l.lingering && l.ripe():
		l.lingering = false
		l.s.procs.run(l.cut)
	}
}

// gather is a runner that is about to cut.
func (l *lane) gather() (time.Duration, step) {
	if d := l.s.cfg.Linger; d > 0 && l.q.len() > 0 && !l.ripe() {
		l.lingering = true
		l.wait++
		turn := l.wait
		l.s.clock.at(l.s.clock.now+d, func() {
			if l.lingering && l.wait == turn {
				l.lingering = false
				l.s.procs.run(l.cut)
			}
		})
		return 0, nil
	}
	if l.s.cfg.Linger > 0 || !l.company {
		return l.cut()
	}
	return l.yield(0)
}

// yield goes behind everybody who is ready, while that brings commands into the queue.
func (l *lane) yield(i int) (time.Duration, step) {
	if i == maxYields || l.ripe() {
		return l.cut()
	}
	before := l.q.len()
	return yieldCost, func() (time.Duration, step) {
		l.s.procs.run(func() (time.Duration, step) {
			if l.q.len() == before && i > 0 {
				return l.cut()
			}
			return l.yield(i + 1)
		})
		return 0, nil
	}
}

// cut makes a batch of what is queued and sends it.
func (l *lane) cut() (time.Duration, step) {
	now := l.s.clock.now
	n := min(l.q.len(), l.share(), maxBatch)
	batch := make([]command, n)
	counted := 0
	for i := range batch {
		batch[i] = l.q.pop()
		if batch[i].counted {
			counted++
			l.s.result.wait(now - batch[i].admitted)
		}
	}
	l.wire += n
	l.lastCut = now
	l.gathering = false
	l.company = n > 1 || l.wire > fewCallers
	if n == 0 {
		l.inFlight--
		l.kick()
		return 0, nil
	}
	l.kick()

	cost := l.s.cfg.Costs.batch(n)
	conns := &l.main
	if n > 1 && l.pipe.used < pipelinePool {
		conns = &l.pipe
	}
	conns.take()
	if 2*counted >= n {
		l.s.result.flush(n, cost)
	}
	// Each caller has paid for its way into the queue.
	send := (cost - time.Duration(n)*l.s.cfg.Costs.PerCommand/stageShare) / sendShare
	return send, func() (time.Duration, step) {
		l.server.send(n, func() {
			l.s.procs.run(func() (time.Duration, step) {
				return send, func() (time.Duration, step) {
					conns.used--
					return l.settle(batch, now)
				}
			})
		})
		return 0, nil
	}
}

// settle is the runner whose batch is back: it wakes the callers and gathers the next batch, unless another does.
func (l *lane) settle(batch []command, cut time.Duration) (time.Duration, step) {
	now := l.s.clock.now
	l.trip.add(cut, now-cut)
	l.s.result.trip(batch[0].counted, now-cut)
	l.wire -= len(batch)
	gather := !l.gathering
	if gather {
		l.gathering = true
	} else {
		l.inFlight--
	}
	for _, c := range batch {
		l.s.done(c, now)
	}
	if !gather {
		return 0, nil
	}
	return 0, l.gather
}
