package autopipe

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// lane is the queue in front of one chain, and the places for batches in flight behind it.
//
// Invariants, all under mu:
//
//   - inFlight counts the places taken, each by one goroutine: a caller with its own lone command, or a runner
//     (work). How many there may be is in roundtrip.go.
//   - At most one holder of a place is gathering, that is, about to cut the next batch. While one is, arriving
//     calls queue for it and nobody takes another place: otherwise the first caller woken by a finished batch would
//     leave alone, and the rest of the wave behind it.
//   - If calls are queued, then somebody gathers or holds a place, and whoever gives a place back looks at the queue
//     first. So no call waits without someone who will come for it, and no goroutine waits for calls: a lane at rest
//     owns none, and needs no Close.
//
// Why runners, and not leaders among the callers as in a group commit: a caller whose context can end must be able to
// leave while its batch travels, so it cannot be the one that travels with it; and one warm stack runs every batch of a
// busy stretch. A lone command needs neither and is sent by its own caller.
type lane struct {
	h     *Hook
	chain *hook.Chain
	node  string

	// routed: a cluster client or ring above this node's client follows redirections and sends again.
	routed bool

	topology atomic.Uint32 // hook.Topology plus one; 0 until it is known

	mu        sync.Mutex
	q         queue
	inFlight  int
	wire      int           // commands in flight
	lastCut   time.Duration // when the last batch left, on the hook's clock
	gathering bool
	company   bool // several callers are about, so more commands are likely to come
	lingering bool // the gatherer waits on full
	known     bool // h counts this lane in its gauges
	trip      roundTrip
	sent      uint // commands, for sampling
	full      chan struct{}

	streams map[uint64]*stream
	held    int             // commands that wait in streams, not in q
	blocked []chan struct{} // callers that wait for room in the queue
}

// now is the time of admission, if anybody wants to know.
func (l *lane) now() (t time.Duration) {
	if l.h.observed {
		t = l.h.now()
	}
	return t
}

// send puts the call on its way. If queued, its caller has to wait for it, else it is settled, or refused with an error.
func (l *lane) send(c *single) (queued bool, err error) {
	c.attempt++
	l.mu.Lock()
	l.meet()
	l.sent++
	sample := l.sent%sampleEvery == 1
	if l.lone() {
		l.inFlight++
		l.wire++
		l.lastCut = l.h.now()
		if !c.leaves && !l.h.observed {
			cut := l.lastCut
			if !sample {
				cut = -1
			}
			l.mu.Unlock()
			l.quick(c, cut)
			return false, nil
		}
		l.mu.Unlock()
		b := newBatch(telemetry.FlushIdle)
		b.add(&c.call)
		if c.leaves { // it could not, if it ran the command itself
			go l.work(b)
			return true, nil
		}
		l.alone(b)
		return false, nil
	}
	if c.attempt == 1 && !l.room(1) { // one that comes again was accepted before
		l.mu.Unlock()
		if err := l.lockWithRoom(c.ctx, 1); err != nil {
			return false, err
		}
	}
	if c.sampled = sample; sample && !l.h.observed {
		c.admitted = l.h.now()
	}
	l.q.push(&c.node)
	l.kick(telemetry.FlushIdle)
	return true, nil
}

// where is the topology that the lane's client has, as far as it is known.
func (l *lane) where() hook.Topology {
	if t := l.topology.Load(); t != 0 {
		return hook.Topology(t - 1)
	}
	return hook.Several
}

func (l *lane) locate(t hook.Topology) { l.topology.Store(uint32(t) + 1) }

// meet makes the lane known to its hook's gauges. The lane is locked.
func (l *lane) meet() {
	if !l.known {
		l.known = true
		l.h.lanes.add(l)
	}
}

// kick starts a runner if calls are queued, nobody gathers them and a place is free. It is called locked and unlocks.
func (l *lane) kick(reason telemetry.FlushReason) {
	start := l.q.n > 0 && !l.gathering && l.place()
	if start {
		l.inFlight++
		l.gathering = true
	} else if l.lingering && l.ripe() {
		l.lingering = false
		l.full <- struct{}{}
	}
	l.mu.Unlock()
	if start {
		go l.work(newBatch(reason))
	}
}

// wait returns nil when the call is settled, or an error when its context ends and the call can be left behind; then only what
// never changes in it may be read any more.
func (l *lane) wait(c *single) error {
	select {
	case <-c.done:
		return nil
	case <-c.ctx.Done():
	}
	l.mu.Lock()
	if c.node.queued {
		l.q.remove(&c.node)
		l.admitBlocked()
		l.mu.Unlock()
		return &leftError{cause: c.ctx.Err()}
	}
	l.mu.Unlock()
	c.left = l.now() // before the batch can see that we left
	if c.leaves && c.state.CompareAndSwap(waiting, abandoned) {
		return &leftError{cause: c.ctx.Err(), inFlight: true}
	}
	<-c.done
	return nil
}

// leftError says that the caller left, and whether its command had been sent by then.
type leftError struct {
	cause    error
	inFlight bool
}

func (e *leftError) Error() string { return e.cause.Error() }
func (e *leftError) Unwrap() error { return e.cause }

// alone runs a lone command on its own caller's goroutine, then gives the place back. A panic or Goexit from beyond
// passes through to the caller, as it would without us.
func (l *lane) alone(b *batch) {
	defer func() {
		l.release(b)
		b.free()
	}()
	l.exec(b)
}

// sampleEvery is the number of commands of which one has its wait in the queue taken for Stats, and its round trip if it
// is a lone one. Reading the clock for each would be a good part of what we add to a command; observers pay that.
const sampleEvery = 16

// quick is alone without anybody to tell. cut is when the command left if its round trip is wanted, else -1.
func (l *lane) quick(c *single, cut time.Duration) {
	c.err = errAborted
	defer func() {
		c.replied = isReply(c.err)
		if c.err == nil {
			c.outcome = telemetry.OutcomeOK
		} else {
			l.decide(&c.call, true)
		}
		if c.again || c.passed {
			l.h.count.retries[c.cause].Add(1)
		} else {
			l.h.count.outcome[c.outcome].Add(1)
		}
		l.h.count.batch(telemetry.FlushIdle, 1, c.size)
		l.mu.Lock()
		if cut >= 0 && c.replied {
			took := l.h.now() - cut
			l.trip.add(cut, took)
			l.h.trips.Observe(int64(took))
			l.h.waits.Observe(0)
		}
		l.inFlight--
		l.wire--
		l.kick(telemetry.FlushDrain)
	}()
	c.err = l.chain.Process(c.ctx, &c.call)
}

// release gives the place of a finished batch back; a new runner takes it if calls are queued.
func (l *lane) release(b *batch) {
	l.mu.Lock()
	l.trip.add(b.cut.Sub(l.h.epoch), b.took)
	l.wire -= len(b.calls)
	l.inFlight--
	l.kick(telemetry.FlushDrain)
}
