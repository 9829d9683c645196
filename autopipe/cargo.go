package autopipe

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// cargo is what a unit's commands are on their way: rows while they are queued, calls from load to deliver.
//
// Calls, and the copies that travel so that the owner may look at its commands at any time, are large, and there may be
// a hundred thousand commands in the queue. So a unit gets them when a batch takes it, from memory that the last batch
// has just used, and an owner that waits and cannot leave needs no copies: its commands travel themselves.
type cargo struct {
	cmds    []redis.Cmder // the owner's
	rows    *rows         // nil if it is one command, or from load on
	frozen  []redis.Cmder // sent instead of those whose arguments may change or run the owner's code; nil if there are none
	payload *payload      // from load to deliver

	// Once delivered.
	err   error // of the first command that failed
	fault *fault

	// Memory of a unit that is one command.
	cmd [1]redis.Cmder
	row row
}

// row is what is known of a queued command.
type row struct {
	info *command.Info
	size int
}

type rows struct{ all []row }

// payload is the memory of a unit's calls, used again when their results have been delivered.
type payload struct {
	calls  []call
	todo   []*call // those still without a final outcome; all of them at first, in order
	copies copies
	pause  time.Duration // before todo is sent again
}

// payload returns memory for n calls. Units of one have a pool of their own: they are many, and need little.
func (h *Hook) payload(n int) *payload {
	pool := &h.windows
	if n == 1 {
		pool = &h.submits
	}
	m, ok := pool.Get().(*payload)
	if !ok || cap(m.calls) < n {
		return &payload{calls: make([]call, n), todo: make([]*call, 0, n)}
	}
	m.calls = m.calls[:n]
	return m
}

func (h *Hook) release(m *payload) {
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
		u.load()
	}
	return nil
}

// freeze makes the copy of cmds[i] that will travel. It must have arguments of its very own: go-redis looks for keys in
// them, and String prints them.
func (u *unit) freeze(i int, cmd redis.Cmder, form hook.Form, size int) (int, error) {
	if u.frozen == nil {
		u.frozen = make([]redis.Cmder, len(u.cmds))
	}
	c := cmd.Clone()
	u.frozen[i] = c
	if err := hook.Freeze(c.Args()); err != nil {
		return 0, err
	}
	if form&hook.UserCode != 0 {
		size, _ = hook.Measure(c.Args())
	}
	return size, nil
}

// load makes the calls. The owner's commands are only read here, unless it waits and cannot leave: else it may be looking
// at them.
func (u *unit) load() {
	if u.payload != nil { // it is sent again
		return
	}
	u.mu.Lock()
	u.bound = u.stays
	u.mu.Unlock()
	h, n := u.lane.h, len(u.cmds)
	m := h.payload(n)
	for i, cmd := range u.cmds {
		c, row := &m.calls[i], &u.row
		if u.rows != nil {
			row = &u.rows.all[i]
		}
		c.Cmder, c.cmd, c.ctx, c.unit, c.attempt = cmd, cmd, u.ctx, u, 1
		c.info, c.size, c.reason = row.info, row.size, u.reason
		c.start, c.admitted = u.start, u.start
		c.replays = h.cfg.retry == RetryLikeGoRedis
		switch {
		case u.frozen != nil && u.frozen[i] != nil:
			c.Cmder = u.frozen[i]
		case u.bound, !command.CanClone(cmd):
			c.pinned = true
		case u.apart: // go-redis's own machinery for commands of several nodes needs a whole command
			c.Cmder = cmd.Clone()
		default:
			c.Cmder = m.copies.of(cmd, n-i)
		}
		m.todo = append(m.todo, c)
	}
	u.payload, u.frozen = m, nil
	if u.rows != nil {
		u.rows.all = u.rows.all[:0]
		h.rows.Put(u.rows)
		u.rows = nil
	}
}

// deliver moves the results into the owner's commands, once.
func (u *unit) deliver() {
	m := u.payload
	if m == nil {
		return
	}
	for i := range m.calls {
		c := &m.calls[i]
		c.copyBack()
		if c.err != nil {
			c.cmd.SetErr(c.err)
		}
		if u.err == nil {
			u.err = c.err
		}
		if u.fault == nil {
			u.fault = c.fault
		}
	}
	u.payload = nil
	u.lane.h.release(m)
}
