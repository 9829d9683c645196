package autopipe

import (
	"context"
	"slices"
)

// room reports whether the queue takes n more commands. The lane is locked.
func (l *lane) room(n int) bool { return l.q.n+l.held+n <= l.h.cfg.maxQueue }

// lockWithRoom locks the lane when it has room for n commands. Without WithBlockOnFull it does not wait.
func (l *lane) lockWithRoom(ctx context.Context, n int) error {
	l.mu.Lock()
	l.meet()
	for !l.room(n) {
		if !l.h.cfg.block || n > l.h.cfg.maxQueue {
			l.mu.Unlock()
			return ErrQueueFull
		}
		turn := make(chan struct{})
		l.blocked = append(l.blocked, turn)
		l.mu.Unlock()
		select {
		case <-turn:
			l.mu.Lock()
		case <-ctx.Done():
			l.mu.Lock()
			if i := slices.Index(l.blocked, turn); i >= 0 {
				l.blocked = slices.Delete(l.blocked, i, i+1)
			}
			l.admitBlocked() // the turn may have come at the same moment: it is the next one's
			l.mu.Unlock()
			return &leftError{cause: ctx.Err()}
		}
	}
	return nil
}

// admitBlocked lets as many waiting callers try again as the queue has room for, first come first served. The lane is
// locked.
func (l *lane) admitBlocked() {
	n := min(l.h.cfg.maxQueue-l.q.n-l.held, len(l.blocked))
	for i := range n {
		close(l.blocked[i])
	}
	if n > 0 {
		l.blocked = slices.Delete(l.blocked, 0, n)
	}
}
