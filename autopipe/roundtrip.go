package autopipe

import "time"

// roundTrip finds, from the batches' round trips, how many batches a lane should have in flight: as many as fit into the
// smallest recent round trip at one flush every flushEvery. On loopback that is leastInFlight, so batches grow
// instead; on a link of several milliseconds a new command need not wait until another batch is back.
//
// The smallest counts, not the mean, since a long round trip may be our own doing: large batches take long to serve.
type roundTrip struct {
	now, last time.Duration // smallest of this and of the previous epoch; 0 if none
	began     time.Time
}

const (
	flushEvery    = 100 * time.Microsecond
	leastInFlight = 2
	rttEpoch      = time.Second
)

func (r *roundTrip) add(cut time.Time, d time.Duration) {
	if cut.Sub(r.began) > rttEpoch {
		r.last, r.now, r.began = r.now, 0, cut
	}
	if r.now == 0 || d < r.now {
		r.now = d
	}
}

// limit is the number of batches to have in flight, at most greatest.
func (r *roundTrip) limit(greatest int) int {
	d := r.now
	if r.last > 0 && (d == 0 || r.last < d) {
		d = r.last
	}
	return min(max(int(d/flushEvery), leastInFlight), greatest)
}

func (l *lane) limit() int { return l.trip.limit(l.h.cfg.maxInFlight) }
