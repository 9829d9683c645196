package autopipe

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// batch is the set of calls that travel together. It belongs to the goroutine that runs it and is used again for the
// next one.
type batch struct {
	calls  []*call
	cmds   []redis.Cmder // the same, as go-redis takes them
	bytes  int
	reason telemetry.FlushReason
	cut    time.Time
	took   time.Duration   // cut to last reply
	event  telemetry.Batch // only if somebody observes
	units  []boarding
	slab   []call  // of the units
	ended  []*unit // found with an ended context when the batch was cut
}

// boarding is a unit in a batch and the place of its first call.
type boarding struct {
	unit *unit
	at   int
}

var batchPool = sync.Pool{New: func() any { return new(batch) }}

func newBatch(reason telemetry.FlushReason) *batch {
	b := batchPool.Get().(*batch)
	b.reason = reason
	return b
}

func (b *batch) add(c *call) {
	b.calls = append(b.calls, c)
	b.cmds = append(b.cmds, c)
	b.bytes += c.size
}

// addUnit keeps places for a unit's calls.
func (b *batch) addUnit(u *unit) {
	n := len(b.calls)
	b.units = append(b.units, boarding{u, n})
	b.calls = slices.Grow(b.calls, u.node.n)[:n+u.node.n]
	b.cmds = slices.Grow(b.cmds, u.node.n)[:n+u.node.n]
	b.bytes += u.node.bytes
}

// load fills the places of the units. It is not done under the lane's lock, as it takes a while.
func (b *batch) load() {
	if len(b.units) == 0 {
		return
	}
	n := 0
	for _, e := range b.units {
		if e.unit.calls == nil {
			n += len(e.unit.cmds)
		}
	}
	b.slab = slices.Grow(b.slab[:0], n)[:n]
	free := b.slab
	for _, e := range b.units {
		u := e.unit
		places := b.calls[e.at : e.at+u.node.n]
		if u.calls == nil {
			u.load(free[:len(places)], places)
			free = free[len(places):]
		} else { // it is sent again
			copy(places, u.todo)
		}
		for i, c := range places {
			b.cmds[e.at+i] = c
		}
	}
	clear(b.units)
	b.units = b.units[:0]
}

// reset empties the batch for the next round.
func (b *batch) reset(reason telemetry.FlushReason) {
	clear(b.calls)
	clear(b.cmds)
	clear(b.slab)
	clear(b.event.Commands)
	b.slab = b.slab[:0]
	b.calls, b.cmds = b.calls[:0], b.cmds[:0]
	b.event = telemetry.Batch{Commands: b.event.Commands[:0]}
	b.bytes, b.reason = 0, reason
}

func (b *batch) free() {
	b.reset(0)
	batchPool.Put(b)
}

// fault is a panic or a runtime.Goexit in a hook behind ours, while it ran a batch.
type fault struct {
	value  any
	goexit bool
}

// repeat does on the caller's goroutine what happened to its batch.
func (f *fault) repeat() {
	if f.goexit {
		runtime.Goexit()
	}
	panic(f.value)
}

// run sends the batch on a runner's goroutine. A panic in a hook behind ours is caught, so that the batch can be
// settled: the first caller that is still there gets the panic, as it would without us, and the others an error.
func (l *lane) run(b *batch) {
	normal := false
	defer func() {
		if normal {
			return
		}
		// A Goexit cannot be stopped: recover returns nil, and the goroutine ends when work's deferred function has run.
		v := recover()
		for _, c := range b.calls {
			if !c.gone {
				c.fault = &fault{value: v, goexit: v == nil}
				return
			}
		}
	}()
	l.exec(b)
	normal = true
}

// errAborted is what a command gets when a hook behind us panicked or ended the goroutine under its batch.
var errAborted = errors.New("autopipe: a hook panicked or ended the goroutine while it ran the batch")

// exec sends the batch, waits for its replies and decides what follows for each command.
func (l *lane) exec(b *batch) {
	ctx := b.context()
	b.cut = time.Now()
	err := errAborted
	defer func() {
		b.took = time.Since(b.cut)
		b.collect(err)
		l.judge(b)
		if l.h.observed {
			b.report(l, err)
			l.h.events.batchEnd(ctx, &b.event)
		}
	}()
	if l.h.observed {
		b.announce(l)
		ctx = l.h.events.batchStart(ctx, &b.event) // should it panic, the batch is settled all the same
	}
	if len(b.calls) == 1 {
		err = l.chain.Process(ctx, b.calls[0])
	} else {
		err = l.chain.Pipeline(ctx, b.cmds)
	}
}

// collect completes what SetErr recorded with what the send as a whole returned.
func (b *batch) collect(err error) {
	if len(b.calls) == 1 { // Process returns the command's error and leaves SetErr to its caller
		c := b.calls[0]
		c.err, c.replied = err, isReply(err)
		return
	}
	for _, c := range b.calls {
		// Neither reply nor failure recorded: go-redis refused the batch as a whole (a limiter, a connection that
		// could not be set up), or a hook behind us answered by itself.
		if !c.replied && c.err == nil {
			if c.err = c.Cmder.Err(); c.err == nil {
				c.err = err
			}
		}
	}
}

// context is what the batch runs under. A lone command has its caller's own; a shared batch has the values of its first
// caller's, for the hooks behind us, but nobody's deadline or cancellation.
func (b *batch) context() context.Context {
	ctx := b.calls[0].ctx
	if len(b.calls) > 1 && ctx.Done() != nil {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// judge decides the outcome of every command and counts the batch, before anybody is woken: who has a reply finds it
// counted. From here on no caller can leave.
func (l *lane) judge(b *batch) {
	var n [telemetry.NumOutcomes]uint64
	first := true
	cut := b.cut.Sub(l.h.epoch)
	l.h.trips.Observe(int64(b.took))
	for _, c := range b.calls {
		if c.sampled {
			l.h.waits.Observe(int64(cut - c.admitted))
		}
		c.gone = !c.claim()
		if c.replied && c.err == nil { // by far the most frequent
			c.outcome = telemetry.OutcomeOK
		} else {
			l.decide(c, first)
			first = first && c.replied
		}
		switch {
		case c.gone:
			c.outcome, c.again, c.passed = telemetry.OutcomeCancelled, false, false // what its caller saw, and has counted
		case c.again, c.passed:
			l.h.count.retries[c.cause].Add(1)
		default:
			n[c.outcome]++
		}
	}
	l.h.count.batch(b.reason, len(b.calls), b.bytes)
	l.h.count.outcomes(&n)
}

// settle wakes the callers that are still there; the calls are theirs from then on.
func (l *lane) settle(b *batch) {
	var again []*unit
	for i := 0; i < len(b.calls); i++ {
		c := b.calls[i]
		if u := c.unit; u != nil {
			i += u.node.n - 1 // they stand together
			if !u.gone && !l.settleUnit(u) {
				again = append(again, u)
			}
		} else if !c.gone {
			c.single.done <- struct{}{}
		}
	}
	if len(again) > 0 {
		l.sendAgain(again)
	}
}

// announce fills the event for BatchStart.
func (b *batch) announce(l *lane) {
	b.event.Pipe, b.event.Node = l.h.cfg.name, l.node
	cut := b.cut.Sub(l.h.epoch)
	b.event.Reason, b.event.Size, b.event.Bytes, b.event.Cut = b.reason, len(b.calls), b.bytes, b.cut
	for _, c := range b.calls {
		b.event.Commands = append(b.event.Commands, telemetry.Command{
			Name: c.name(), Context: c.ctx, Wait: cut - c.admitted, Attempt: int(c.attempt), Start: l.h.epoch.Add(c.start),
		})
	}
}

// report completes the event for BatchEnd.
func (b *batch) report(l *lane, err error) {
	b.event.RoundTrip = b.took
	if !isReply(err) {
		b.event.Err = err
	}
	cut := b.cut.Sub(l.h.epoch)
	for i, c := range b.calls {
		e := &b.event.Commands[i]
		e.Outcome, e.Again, e.Left, e.Err = c.outcome, c.again || c.passed, c.gone, c.err
		e.Duration = cut - c.start + b.took
		if c.gone && c.left > 0 {
			e.Duration = c.left - c.start
		}
		if c.passed { // other retries are told by whoever makes the pause before them
			l.tellRetry(c, 0)
		}
	}
}
