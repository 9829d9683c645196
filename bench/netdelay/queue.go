package netdelay

import (
	"sync"
	"time"
)

// chunk is what one read brought.
type chunk struct {
	room [64 << 10]byte
	data []byte // part of room that is still to be sent
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

func newChunk() *chunk { return chunks.Get().(*chunk) }

func (c *chunk) free() {
	c.data = nil
	chunks.Put(c)
}

// entry of the queue; without a chunk it is the end of the stream.
type entry struct {
	due   time.Time
	chunk *chunk
	out   *outlet
}

// queue holds everything under way, in due order.
type queue struct {
	delay time.Duration
	timer waiter

	mu      sync.Mutex
	wake    sync.Cond // entries came, or closed
	entries []entry
	closed  bool
}

func newQueue(delay time.Duration) (*queue, error) {
	t, err := newWaiter()
	if err != nil {
		return nil, err
	}
	q := &queue{delay: delay, timer: t}
	q.wake.L = &q.mu
	return q, nil
}

func (q *queue) put(c *chunk, out *outlet) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		out.end()
		return
	}
	// The clock is read under the lock: that keeps the queue in due order.
	q.entries = append(q.entries, entry{time.Now().Add(q.delay), c, out})
	if len(q.entries) == 1 {
		q.wake.Signal()
	}
	q.mu.Unlock()
}

// serve sends what is due, until close.
func (q *queue) serve() {
	defer q.timer.close()
	var batch []entry
	for {
		q.mu.Lock()
		for len(q.entries) == 0 && !q.closed {
			q.wake.Wait()
		}
		if q.closed {
			rest := q.entries
			q.entries = nil
			q.mu.Unlock()
			for _, e := range rest {
				e.out.end()
			}
			return
		}
		// Take all there is: who is put meanwhile is due later than all of these.
		batch, q.entries = q.entries, batch[:0]
		q.mu.Unlock()

		for i, e := range batch {
			if wait := time.Until(e.due); wait > 0 {
				q.timer.sleep(wait)
			}
			if e.chunk == nil {
				e.out.end()
			} else {
				e.out.send(e.chunk)
			}
			batch[i] = entry{}
		}
	}
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.wake.Signal()
	q.mu.Unlock()
}
