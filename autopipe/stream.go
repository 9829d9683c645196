package autopipe

import (
	"slices"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// start launches a unit, or lets it wait if its stream is busy. It is called locked and unlocks.
func (l *lane) start(u *unit) {
	if u.key != 0 {
		if s, busy := l.streams[u.key]; busy {
			s.waiting = append(s.waiting, u)
			l.held += u.node.n
			l.mu.Unlock()
			return
		}
		if l.streams == nil {
			l.streams = make(map[uint64]*stream)
		}
		l.streams[u.key] = &stream{}
	}
	l.launch(u)
	l.kick(telemetry.FlushIdle)
}

// stream keeps the units of one order apart: the next may leave when all earlier ones have their outcome, or in one
// batch with them. With several batches in flight on several connections they could overtake each other.
type stream struct {
	waiting []*unit
	open    int   // units that have left and are not finished
	again   *unit // the first of these that is being sent again
}

// launch queues a unit whose turn it is. The lane is locked.
func (l *lane) launch(u *unit) {
	if s := l.streams[u.key]; s != nil {
		s.open++
	}
	if u.apart {
		go l.runApart(u)
		return
	}
	l.q.push(&u.node)
}

// join adds, to the batch that takes a unit of a stream, the units that wait behind it, as far as they fit. The lane
// is locked.
func (l *lane) join(b *batch, key uint64) {
	s := l.streams[key]
	for s != nil && len(s.waiting) > 0 {
		u := s.waiting[0]
		if u.apart || len(b.calls)+u.node.n > l.h.cfg.maxBatch || b.bytes+u.node.bytes > l.h.cfg.maxBatchBytes {
			return
		}
		s.waiting = s.waiting[1:]
		s.open++
		l.held -= u.node.n
		if u.ctx.Err() != nil {
			b.ended = append(b.ended, u)
		} else {
			b.addUnit(u)
		}
	}
}

// leftStream is called when a unit has its outcome, and launches the next of its stream.
func (l *lane) leftStream(u *unit) {
	if u.key == 0 {
		return
	}
	l.mu.Lock()
	s := l.streams[u.key]
	s.open--
	if s.again == u {
		s.again = nil
	}
	switch {
	case s.open > 0:
	case len(s.waiting) == 0:
		delete(l.streams, u.key)
	default:
		next := s.waiting[0]
		s.waiting = s.waiting[1:]
		l.held -= next.node.n
		l.launch(next)
	}
	l.kick(telemetry.FlushDrain)
}

// stepBack is asked for units that are to be sent again, in their order. One behind another of its stream has to wait for
// that one; it stands before those that have not been sent yet. The lane is locked.
func (l *lane) stepBack(u *unit) bool {
	if u.key == 0 {
		return false
	}
	s := l.streams[u.key]
	if s.again == nil || s.again == u {
		s.again = u
		return false
	}
	s.open--
	at := slices.IndexFunc(s.waiting, func(w *unit) bool { return w.calls == nil || w.apart })
	if at < 0 {
		at = len(s.waiting)
	}
	s.waiting = slices.Insert(s.waiting, at, u)
	l.held += u.node.n
	for _, c := range u.todo {
		c.admitted = l.now()
	}
	return true
}
