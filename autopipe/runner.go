package autopipe

import (
	"context"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// work holds a place and runs one batch after the other while there are calls: first b if it has been cut already,
// else it is the gatherer.
func (l *lane) work(b *batch) {
	// The caller that started this goroutine passed its profile labels on to it; the work is not its own.
	pprof.SetGoroutineLabels(context.Background())
	normal := false
	defer func() {
		if !normal { // Goexit in a hook behind us; panics are caught in run
			l.settle(b)
			l.release(b)
		}
	}()
	for len(b.calls) > 0 || l.gather(b) {
		l.run(b)
		l.mu.Lock()
		l.trip.add(b.cut.Sub(l.h.epoch), b.took)
		l.wire -= len(b.calls)
		gather := !l.gathering
		if gather {
			l.gathering = true // before the callers wake, so that they queue for this runner
		} else {
			l.inFlight-- // another gathers: the callers that wake now will join its batch
		}
		l.mu.Unlock()
		l.settle(b)
		b.reset(telemetry.FlushDrain)
		if !gather {
			break
		}
	}
	normal = true
	b.free()
}

// maxYields bounds how often a gatherer lets others run before it cuts.
const maxYields = 8

// gather waits for company and cuts the next batch into b. It reports false, having given the place back, if there is
// nothing to send.
//
// Waiting is yielding the processor while the queue grows: on a busy machine every goroutine that is ready to send gets
// its turn and joins, on an idle one it costs next to nothing. A lone caller has no company and is not made to wait.
func (l *lane) gather(b *batch) bool {
	l.mu.Lock()
	if l.h.cfg.linger > 0 {
		l.linger(b)
	} else if l.company {
		for i := 0; i < maxYields && !l.ripe(); i++ {
			before := l.q.n
			l.mu.Unlock()
			runtime.Gosched()
			l.mu.Lock()
			if l.q.n == before && i > 0 {
				break
			}
		}
	}
	l.cut(b)
	l.lastCut = l.h.now()
	l.gathering = false
	l.company = len(b.calls) > 1 || l.wire > fewCallers
	if len(b.calls) == 0 {
		l.inFlight--
	}
	l.admitBlocked()
	l.kick(telemetry.FlushDrain) // if the batch is full and another place is free
	b.load()
	for _, u := range b.ended {
		l.cancel(u)
	}
	clear(b.ended)
	b.ended = b.ended[:0]
	return len(b.calls) > 0
}

// ripe reports whether the queue fills a batch.
func (l *lane) ripe() bool {
	return l.q.n >= l.h.cfg.maxBatch || l.q.bytes >= l.h.cfg.maxBatchBytes
}

// linger waits, unlocked, until the queue fills a batch or the linger time has passed.
func (l *lane) linger(b *batch) {
	if l.q.n == 0 || l.ripe() {
		return
	}
	if l.full == nil {
		l.full = make(chan struct{}, 1)
	}
	l.lingering = true
	l.mu.Unlock()
	t := time.NewTimer(l.h.cfg.linger)
	select {
	case <-l.full:
	case <-t.C:
	}
	t.Stop()
	l.mu.Lock()
	if l.lingering {
		l.lingering = false
		b.reason = telemetry.FlushLinger
		return
	}
	select { // filled at the last moment: take the token along
	case <-l.full:
	default:
	}
}

// cut moves calls from the queue into b, up to the limits of a batch. A unit is not divided: one that is larger than a
// batch leaves by itself. Units whose context has ended are not sent; they are left in b.ended.
func (l *lane) cut(b *batch) {
	reason := telemetry.FlushSize
	share := l.share()
	defer func() { l.wire += len(b.calls) }()
	for e := l.q.head; e != nil; e = l.q.head {
		n := len(b.calls)
		if n >= share {
			break
		}
		if n >= l.h.cfg.maxBatch || n > 0 && n+e.n > l.h.cfg.maxBatch {
			b.reason = reason
			return
		}
		if n > 0 && b.bytes+e.bytes > l.h.cfg.maxBatchBytes {
			b.reason = telemetry.FlushBytes
			return
		}
		l.q.remove(e)
		u := e.unit
		switch {
		case u == nil:
			b.add(&e.single.call)
			continue
		case u.ctx.Err() != nil:
			b.ended = append(b.ended, u)
			continue
		}
		reason = telemetry.FlushWindow
		b.addUnit(u)
		if u.key != 0 {
			l.join(b, u.key)
		}
	}
	if n := len(b.calls); n >= l.h.cfg.maxBatch && n > 1 {
		b.reason = reason
	}
}
