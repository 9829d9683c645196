package autopipe

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// unit is what travels without a goroutine of its own waiting: one submitted command, or the commands of a window or of
// a merged pipeline, which keep their order and share one batch.
type unit struct {
	node  node
	lane  *lane
	ctx   context.Context // ends it while it is queued
	calls []call
	todo  []*call                   // those still without a final outcome; all of them at first, in order
	key   uint64                    // of its stream; 0 if its order does not matter
	relay redis.ProcessPipelineHook // sends it, if the lane has no chain (Attach)
	apart bool                      // holds commands that must not share: it is sent by itself, as an explicit pipeline is

	state atomic.Uint32 // as single.state, for all its calls together
	gone  bool          // as call.gone
	err   error         // of the first command that failed, once delivered

	mu      sync.Mutex
	ended   bool
	done    chan struct{} // made when somebody asks; closed when ended
	collect sync.Once

	mem *unitMem
}

// unitMem is the memory of a unit's calls, used again when their results have been delivered.
type unitMem struct {
	calls  []call
	todo   []*call
	copies copies
}

// get returns memory for n calls. Units of one have a pool of their own: they are many, and need little.
func (h *Hook) unitMem(n int) *unitMem {
	pool := &h.windows
	if n == 1 {
		pool = &h.submits
	}
	m, ok := pool.Get().(*unitMem)
	if !ok || cap(m.calls) < n {
		return &unitMem{calls: make([]call, n), todo: make([]*call, 0, n)}
	}
	m.calls = m.calls[:n]
	return m
}

func (h *Hook) freeUnitMem(m *unitMem) {
	n := len(m.calls)
	clear(m.calls)
	clear(m.todo)
	m.todo = m.todo[:0]
	m.copies.reset()
	if n == 1 {
		h.submits.Put(m)
	} else {
		h.windows.Put(m)
	}
}

// prepare makes u ready to carry cmds. They travel as copies, so that the caller may look at them at any time: they get
// their results when somebody waits for the unit.
func (u *unit) prepare(l *lane, ctx context.Context, cmds []redis.Cmder, key uint64) error {
	u.node.unit, u.lane, u.ctx, u.key = u, l, ctx, key
	m := l.h.unitMem(len(cmds))
	u.mem, u.calls = m, m.calls
	where, memo := l.where(), hook.Memo{}
	for i, cmd := range cmds {
		class, info := l.h.classes.ClassifyRow(&memo, cmd, where)
		size, form, reason, shared := l.fit(cmd, class, info)
		if shared && optedOut(ctx) {
			reason, shared = telemetry.DirectExcluded, false
		}
		c := &u.calls[i]
		c.begin(l.h, ctx, cmd, info, size)
		c.unit, c.reason, c.attempt = u, reason, 1
		u.apart = u.apart || !shared || u.relay != nil
		if command.CanClone(cmd) {
			// Methods of go-redis make a command's arguments anew; Do uses the caller's own slice.
			var args []any
			if _, do := cmd.(*redis.Cmd); do {
				args = slices.Clone(cmd.Args())
			}
			if err := c.detach(&m.copies, len(cmds)-i, args, form); err != nil {
				return err
			}
		}
		m.todo = append(m.todo, c)
		u.node.bytes += c.size
	}
	u.todo, u.node.n = m.todo, len(m.todo)
	if u.apart {
		u.bare()
	}
	return nil
}

// bare makes the calls' copies fit to be sent themselves, without the stand-in, which go-redis's own machinery for
// commands of several nodes does not know.
func (u *unit) bare() {
	for i := range u.calls {
		if c := &u.calls[i]; c.args != nil {
			c.Cmder, c.args = c.cmd.Clone(), nil
		}
	}
}

// submit puts a unit on its way without waiting for it. A full queue refuses it, or with WithBlockOnFull is waited for.
func (l *lane) submit(u *unit) error {
	if err := l.lockWithRoom(u.ctx, u.node.n); err != nil {
		return err
	}
	if l.h.observed {
		now := l.now()
		for _, c := range u.todo {
			c.start, c.admitted = now, now
		}
	}
	l.start(u)
	return nil
}

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
	open    int // units that have left and are not finished
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

// leftStream is called when a unit has its outcome, and launches the next of its stream. It returns locked.
func (l *lane) leftStream(u *unit) {
	l.mu.Lock()
	s := l.streams[u.key]
	if u.key == 0 || s == nil {
		return
	}
	if s.open--; s.open > 0 {
		return
	}
	if len(s.waiting) == 0 {
		delete(l.streams, u.key)
		return
	}
	next := s.waiting[0]
	s.waiting = s.waiting[1:]
	l.held -= next.node.n
	l.launch(next)
}

// settleUnit follows up on a unit whose batch is back: sends again what has to be, else ends it.
func (l *lane) settleUnit(u *unit) {
	var again []*call
	for _, c := range u.todo {
		if c.again {
			again = append(again, c)
		}
	}
	if len(again) == 0 {
		l.endUnit(u)
		return
	}
	wait := l.h.backoff(int(again[0].attempt))
	for _, c := range again {
		l.tellRetry(c, wait)
	}
	u.todo = again
	u.node.n, u.node.bytes = len(again), 0
	for _, c := range again {
		u.node.bytes += c.size
	}
	u.state.Store(waiting) // so that a caller can leave during the pause
	time.AfterFunc(wait, func() {
		l.mu.Lock()
		now := l.now()
		for _, c := range u.todo {
			c.rearm()
			c.admitted = now
			c.attempt++
		}
		l.q.push(&u.node)
		l.kick(telemetry.FlushIdle)
	})
}

// endUnit marks a unit as finished, wakes those that wait for it, and lets the next of its stream go.
func (l *lane) endUnit(u *unit) {
	u.mu.Lock()
	u.ended = true
	done := u.done
	u.mu.Unlock()
	if done != nil {
		close(done)
	}
	l.leftStream(u)
	l.kick(telemetry.FlushDrain)
}

// cancel ends a unit that was taken from the queue because its context had ended.
func (l *lane) cancel(u *unit) {
	if u.state.CompareAndSwap(waiting, settled) { // else its caller has left, and counted it
		for _, c := range u.todo {
			c.err = l.drop(u.ctx, c.cmd, telemetry.OutcomeCancelled, false, c.start, u.ctx.Err())
		}
	}
	l.endUnit(u)
}

// withdraw takes a unit back that is still queued; it reports false if it is not.
func (l *lane) withdraw(u *unit) bool {
	l.mu.Lock()
	if !u.node.queued {
		l.mu.Unlock()
		return false
	}
	l.q.remove(&u.node)
	l.admitBlocked()
	l.mu.Unlock()
	l.cancel(u)
	return true
}

// runApart sends a unit as an explicit pipeline, or its one command directly: it holds commands that must not share.
func (l *lane) runApart(u *unit) {
	defer func() {
		// Nobody waits in this goroutine: a panic in a hook is repeated where the result is waited for.
		if v := recover(); v != nil {
			u.calls[0].fault = &fault{value: v}
			for i := range u.calls {
				u.calls[i].err = errAborted
			}
		}
		l.endUnit(u)
	}()
	if c := &u.calls[0]; len(u.calls) == 1 {
		c.err = errAborted
		if u.relay != nil {
			c.err = u.relay(u.ctx, []redis.Cmder{c.Cmder})
			return
		}
		c.err = l.direct(u.ctx, c.Cmder, c.info, c.reason)
		return
	}
	cmds := make([]redis.Cmder, len(u.calls))
	for i := range u.calls {
		u.calls[i].err = errAborted
		cmds[i] = u.calls[i].Cmder
	}
	var err error
	if u.relay != nil {
		err = u.relay(u.ctx, cmds)
	} else {
		err = l.h.pipeline(u.ctx, l.chain.Pipeline, cmds, false)
	}
	failed := false
	for i, cmd := range cmds {
		u.calls[i].err = cmd.Err()
		failed = failed || cmd.Err() != nil
	}
	if err != nil && !failed { // refused before anything was tried
		for i := range u.calls {
			u.calls[i].err = err
		}
	}
}

// wake returns a channel that is closed when the unit has its outcome.
func (u *unit) wake() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done == nil {
		u.done = make(chan struct{})
		if u.ended {
			close(u.done)
		}
	}
	return u.done
}

// wait returns nil when the unit has its outcome and its commands hold their results, or ctx's error when that ends
// first.
func (u *unit) wait(ctx context.Context) error {
	u.mu.Lock()
	ended := u.ended
	u.mu.Unlock()
	if !ended {
		done := u.wake()
		if ctx.Done() == nil && u.ctx.Done() == nil {
			<-done
			u.collect.Do(u.deliver)
			return nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			if u.ctx.Err() == nil || !u.lane.withdraw(u) {
				return ctx.Err()
			}
		case <-u.ctx.Done():
			if u.lane.withdraw(u) {
				break
			}
			select {
			case <-done:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	u.collect.Do(u.deliver)
	return nil
}

// deliver moves the results into the caller's commands.
func (u *unit) deliver() {
	var f *fault
	for i := range u.calls {
		c := &u.calls[i]
		c.copyBack()
		if c.err != nil { // begin has cleared an older one
			c.cmd.SetErr(c.err)
		}
		if u.err == nil {
			u.err = c.err
		}
		if f == nil {
			f = c.fault
		}
	}
	u.lane.h.freeUnitMem(u.mem)
	u.calls, u.todo, u.mem = nil, nil, nil
	if f != nil {
		f.repeat()
	}
}
