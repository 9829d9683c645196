package autopipe

import "time"

// How many batches a lane has in flight follows from two observations.
//
// On a slow link a new command must not wait for a batch that is still travelling: as many batches leave as fit into the
// smallest recent round trip at one flush every flushEvery. The smallest counts, not the mean, since a long round trip may
// be our own doing: large batches take long to serve.
//
// On loopback and in one machine room that makes one, and one is best there: client and server are busy all the time, every
// batch costs both of them system calls and wake-ups, and commands that wait a little share them. Three things let more
// than one go even so: a queue that fills a whole batch, a batch that is overdue (its reply is large, a script is slow, a
// packet is lost), and two callers who never meet, for whom a plain client's two connections are faster than any batch.

// roundTrip finds the smallest recent round trip.
type roundTrip struct {
	now, last time.Duration // smallest of this and of the previous rttEpoch; 0 if none
	began     time.Duration // on the hook's clock
}

const (
	flushEvery = 100 * time.Microsecond
	overdue    = 2 * flushEvery
	rttEpoch   = time.Second
)

func (r *roundTrip) add(cut, d time.Duration) {
	if cut-r.began > rttEpoch {
		r.last, r.now, r.began = r.now, 0, cut
	}
	if r.now == 0 || d < r.now {
		r.now = d
	}
}

// batches is how many fit into the smallest recent round trip, at least 1.
func (r *roundTrip) batches() int {
	d := r.now
	if r.last > 0 && (d == 0 || r.last < d) {
		d = r.last
	}
	return max(int(d/flushEvery), 1)
}

// place reports whether one more batch may be in flight. The lane is locked.
func (l *lane) place() bool {
	switch most := l.h.cfg.maxInFlight; {
	case l.inFlight >= most:
		return false
	case l.inFlight < l.trip.batches(), l.inFlight < 2 && l.ripe():
		return true
	default:
		return l.h.now()-l.lastCut > overdue
	}
}

// lone reports whether a command may leave at once on its caller's goroutine. The lane is locked.
func (l *lane) lone() bool {
	return l.q.n == 0 && !l.gathering && !l.company && l.h.cfg.linger == 0 &&
		l.inFlight < min(max(l.trip.batches(), 2), l.h.cfg.maxInFlight)
}
