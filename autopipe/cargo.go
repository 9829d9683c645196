package autopipe

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// cargo is what a unit's commands are on their way: rows while they are queued, calls from load to collect.
//
// Calls, and the copies that travel so that the owner may look at its commands at any time, are large, and there may be
// a hundred thousand commands in the queue, or with their results unread. So a unit has calls only while it is in a batch,
// in memory that the last batch has just used, and an owner that waits and cannot leave needs no copies: its commands
// travel themselves.
type cargo struct {
	cmds []redis.Cmder // the owner's
	rows *rows         // nil if it is one command, or from load on

	// What travels. Until load, those whose arguments may change or run the owner's code have been copied, and nil stands for
	// the others; from load until the results are delivered all are there. Nil if the commands travel themselves.
	sent   []redis.Cmder
	copies *copySet // memory of sent, if it is kept

	// From load to collect.
	calls []call
	todo  []*call       // those still without a final outcome; all of them at first, in order
	pause time.Duration // before todo is sent again

	// Once collected.
	err   error // of the first command that failed
	fault *fault

	// Memory of a unit that is one command.
	cmd [1]redis.Cmder
	one [1]redis.Cmder // sent
	row row
}

// row is what is known of a queued command.
type row struct {
	info *command.Info
	size int
}

type rows struct{ all []row }

// copySet is memory for the copies of a window, used again when its results have been delivered.
type copySet struct {
	list []redis.Cmder
	copies
}

// prepare takes cmds into u, on their owner's goroutine: it classifies and measures them, and freezes arguments that the
// owner may change once it has submitted them. Its error is an argument's MarshalBinary's.
func (u *unit) prepare(l *lane, ctx context.Context, cmds []redis.Cmder, key uint64) error {
	u.start = l.now()
	u.node.unit, u.node.n, u.lane, u.ctx, u.cmds, u.key = u, len(cmds), l, ctx, cmds, key
	if len(cmds) > 1 {
		if u.rows, _ = l.h.rows.Get().(*rows); u.rows == nil {
			u.rows = new(rows)
		}
	}
	for i, cmd := range cmds {
		class, info := l.classify(cmd)
		size, form, reason, shared := l.fit(cmd, class, info)
		if shared && optedOut(ctx) {
			reason, shared = telemetry.DirectExcluded, false
		}
		u.reason, u.apart = reason, u.apart || !shared || u.relay != nil
		if cmd.Err() != nil { // its owner has used it before; see rearm
			cmd.SetErr(nil)
		}
		// Methods of go-redis make a command's arguments anew; Do uses its caller's own slice. A type of the user's has a Clone
		// of the user's, which must not panic in a runner.
		_, do := cmd.(*redis.Cmd)
		foreign := len(l.h.cfg.batched) > 0 && (info == nil || !info.Accepts(cmd))
		if (do || foreign || form&(hook.Refs|hook.UserCode) != 0) && command.CanClone(cmd) {
			var err error
			if size, err = u.freeze(i, cmd, form, size); err != nil {
				return err
			}
		}
		if u.rows == nil {
			u.row = row{info, size}
		} else {
			u.rows.all = append(u.rows.all, row{info, size})
		}
		u.node.bytes += size
	}
	if u.apart {
		u.loadOwn()
	}
	return nil
}

// freeze makes the copy of cmds[i] that will travel. It must have arguments of its very own: go-redis looks for keys in
// them, and String prints them.
func (u *unit) freeze(i int, cmd redis.Cmder, form hook.Form, size int) (int, error) {
	if u.sent == nil {
		u.sent = make([]redis.Cmder, len(u.cmds))
	}
	c := cmd.Clone()
	u.sent[i] = c
	if err := hook.Freeze(c.Args()); err != nil {
		return 0, err
	}
	if form&hook.UserCode != 0 {
		size, _ = hook.Measure(c.Args())
	}
	return size, nil
}

// loadOwn is load into memory of the unit's own, if it has no calls yet.
func (u *unit) loadOwn() {
	if u.calls == nil {
		u.load(make([]call, len(u.cmds)), make([]*call, len(u.cmds)))
	}
}

// load makes the calls, in the memory given. The owner's commands are only read here, unless it waits and cannot leave:
// else it may be looking at them.
func (u *unit) load(calls []call, todo []*call) {
	u.mu.Lock()
	u.bound = u.stays
	u.mu.Unlock()
	h := u.lane.h
	if !u.bound {
		u.makeRoom()
	}
	for i, cmd := range u.cmds {
		c, row := &calls[i], &u.row
		if u.rows != nil {
			row = &u.rows.all[i]
		}
		c.Cmder, c.cmd, c.ctx, c.unit, c.attempt = cmd, cmd, u.ctx, u, 1
		c.info, c.size, c.reason = row.info, row.size, u.reason
		c.start, c.admitted = u.start, u.start
		c.replays = h.cfg.retry == RetryLikeGoRedis
		todo[i] = c
		if u.sent == nil {
			continue
		}
		switch {
		case u.sent[i] != nil:
			c.Cmder = u.sent[i]
		case u.bound, !command.CanClone(cmd):
		case u.apart: // go-redis's own machinery for commands of several nodes needs a whole command
			c.Cmder = cmd.Clone()
		case u.copies != nil:
			c.Cmder = u.copies.of(cmd, len(u.cmds)-i)
		default:
			c.Cmder = new(copies).of(cmd, 1)
		}
		u.sent[i] = c.Cmder
	}
	u.calls, u.todo = calls, todo
	if u.rows != nil {
		u.rows.all = u.rows.all[:0]
		h.rows.Put(u.rows)
		u.rows = nil
	}
}

// makeRoom makes the list of what is sent, and gets memory for a window's copies.
func (u *unit) makeRoom() {
	n := len(u.cmds)
	if n == 1 {
		if u.sent == nil {
			u.sent = u.one[:]
		}
		return
	}
	m, ok := u.lane.h.windows.Get().(*copySet)
	if !ok {
		m = new(copySet)
	}
	u.copies = m
	if u.sent == nil {
		m.list = slices.Grow(m.list[:0], n)[:n]
		u.sent = m.list
	}
}

// keep moves the calls into memory of the unit's own, since some have to travel once more: they have again.
func (u *unit) keep() {
	u.calls = slices.Clone(u.calls)
	u.todo = nil
	for i := range u.calls {
		if c := &u.calls[i]; c.again {
			u.todo = append(u.todo, c)
		}
	}
}

// collect takes the outcomes from the calls, which are not used any more.
func (u *unit) collect() {
	for i := range u.calls {
		c := &u.calls[i]
		c.Cmder.SetErr(c.err)
		if u.err == nil {
			u.err = c.err
		}
		if u.fault == nil {
			u.fault = c.fault
		}
	}
	u.calls, u.todo = nil, nil
}

// deliver moves the results into the owner's commands, once.
func (u *unit) deliver() {
	for i, src := range u.sent {
		if dst := u.cmds[i]; src != dst {
			copyBack(dst, src)
			dst.SetErr(src.Err())
		}
	}
	u.sent, u.one[0] = nil, nil
	if m := u.copies; m != nil {
		clear(m.list)
		m.reset()
		u.copies = nil
		u.lane.h.windows.Put(m)
	}
}
