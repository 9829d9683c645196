package autopipe

import "time"

// How many batches a lane has in flight, and how large they are, follows from what it sees.
//
// On a slow link a new command must not wait for a batch that is still travelling: as many batches leave as fit into the
// smallest recent round trip at one flush every flushEvery. The smallest counts, not the mean, since a long round trip may
// be our own doing: large batches take long to serve.
//
// On loopback and in one machine room that would be one, but two are better: while the server works on one, the client
// reads and writes the other. They share the work evenly: of all commands, in the queue and on the wire, a batch takes
// half (share). Left to themselves two batches drift into one of nearly all and one of a few, and then client and server
// wait for each other. A batch that is overdue (its reply is large, a script is slow, a packet is lost) does not count:
// others go on without it.

// roundTrip finds the smallest recent round trip.
type roundTrip struct {
	now, last time.Duration // smallest of this and of the previous rttEpoch; 0 if none
	began     time.Duration // on the hook's clock
}

const (
	flushEvery    = 100 * time.Microsecond
	overdue       = 2 * flushEvery
	leastInFlight = 2
	leastShare    = 4 // commands; smaller shares cost more than they gain
	fewCallers    = 8 // for so few, a connection each is as good as any batch
	rttEpoch      = time.Second
)

func (r *roundTrip) add(cut, d time.Duration) {
	if cut-r.began > rttEpoch {
		r.last, r.now, r.began = r.now, 0, cut
	}
	if r.now == 0 || d < r.now {
		r.now = d
	}
}

// batches is how many fit into the smallest recent round trip, at least leastInFlight.
func (r *roundTrip) batches() int {
	d := r.now
	if r.last > 0 && (d == 0 || r.last < d) {
		d = r.last
	}
	return max(int(d/flushEvery), leastInFlight)
}

// place reports whether one more batch may be in flight. The lane is locked.
func (l *lane) place() bool {
	switch {
	case l.inFlight >= l.h.cfg.maxInFlight:
		return false
	case l.inFlight < l.trip.batches():
		return true
	default:
		return l.h.now()-l.lastCut > overdue
	}
}

// share is how many commands the next batch takes at most, besides the limits that the user set. The lane is locked.
func (l *lane) share() int {
	if l.h.cfg.maxInFlight < leastInFlight || l.trip.batches() > leastInFlight {
		return l.q.n
	}
	return max((l.q.n+l.wire+leastInFlight-1)/leastInFlight, leastShare)
}

// lone reports whether a command may leave at once on its caller's goroutine. The lane is locked.
func (l *lane) lone() bool {
	return l.q.n == 0 && !l.gathering && !l.company && l.h.cfg.linger == 0 &&
		l.inFlight < min(max(l.trip.batches(), fewCallers), l.h.cfg.maxInFlight)
}
