package scale

import "time"

// The rules of autopipe/roundtrip.go and the defaults of its options. TestRulesAreTheEngines reads them there and
// compares.
const (
	flushEvery    = 100 * time.Microsecond
	overdue       = 2 * flushEvery
	leastInFlight = 2
	leastShare    = 4
	fewCallers    = 8
	rttEpoch      = time.Second
	maxYields     = 8

	maxInFlight = 16
	maxBatch    = 512
)

// pipelinePool is go-redis's PipelinePoolSize: batches beyond it use the regular connections.
const pipelinePool = 10

// roundTrip is the engine's: the smallest recent round trip.
type roundTrip struct {
	now, last, began time.Duration
}

func (r *roundTrip) add(cut, d time.Duration) {
	if cut-r.began > rttEpoch {
		r.last, r.now, r.began = r.now, 0, cut
	}
	if r.now == 0 || d < r.now {
		r.now = d
	}
}

func (r *roundTrip) batches() int {
	d := r.now
	if r.last > 0 && (d == 0 || r.last < d) {
		d = r.last
	}
	return max(int(d/flushEvery), leastInFlight)
}

// lane is one node's, with the state that admission looks at.
type lane struct {
	s      *simulation
	server *server

	q         fifo[command]
	inFlight  int
	wire      int
	lastCut   time.Duration
	gathering bool
	company   bool
	lingering bool
	wait      uint64 // tells one linger from the next
	trip      roundTrip

	main, pipe pool
}

func (l *lane) place() bool {
	switch {
	case l.inFlight >= maxInFlight:
		return false
	case l.inFlight < l.trip.batches():
		return true
	default:
		return l.s.clock.now-l.lastCut > overdue
	}
}

func (l *lane) share() int {
	if l.trip.batches() > leastInFlight {
		return l.q.len()
	}
	return max((l.q.len()+l.wire+leastInFlight-1)/leastInFlight, leastShare)
}

func (l *lane) lone() bool {
	return l.q.len() == 0 && !l.gathering && !l.company && l.s.cfg.Linger == 0 &&
		l.inFlight < min(max(l.trip.batches(), fewCallers), maxInFlight)
}

func (l *lane) ripe() bool { return l.q.len() >= maxBatch }

// pool counts the connections of a go-redis pool: it opens one when none is free, and keeps it.
type pool struct{ used, open int }

func (p *pool) take() {
	p.used++
	p.open = max(p.open, p.used)
}
