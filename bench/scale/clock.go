package scale

import "time"

// clock is the virtual time and what is to happen in it. Events of one moment happen in the order in which they were
// planned, so a run depends on nothing but its Config.
type clock struct {
	now  time.Duration
	seq  uint64
	heap []event
}

type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

func (e event) before(o event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// at plans do for the time t.
func (c *clock) at(t time.Duration, do func()) {
	c.seq++
	e := event{max(t, c.now), c.seq, do}
	c.heap = append(c.heap, e)
	i := len(c.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(c.heap[up]) {
			break
		}
		c.heap[i] = c.heap[up]
		i = up
	}
	c.heap[i] = e
}

// step lets the next event happen; false if there is none.
func (c *clock) step() bool {
	if len(c.heap) == 0 {
		return false
	}
	first := c.heap[0]
	n := len(c.heap) - 1
	last := c.heap[n]
	c.heap[n] = event{}
	c.heap = c.heap[:n]
	if n > 0 {
		i := 0
		for {
			down := 2*i + 1
			if down >= n {
				break
			}
			if down+1 < n && c.heap[down+1].before(c.heap[down]) {
				down++
			}
			if !c.heap[down].before(last) {
				break
			}
			c.heap[i] = c.heap[down]
			i = down
		}
		c.heap[i] = last
	}
	c.now = first.at
	first.do()
	return true
}

// fifo is a queue that keeps its memory.
type fifo[T any] struct {
	items []T
	head  int
}

func (f *fifo[T]) len() int { return len(f.items) - f.head }

func (f *fifo[T]) push(v T) { f.items = append(f.items, v) }

func (f *fifo[T]) pop() T {
	v := f.items[f.head]
	var zero T
	f.items[f.head] = zero
	f.head++
	if f.head > 1024 && f.head > len(f.items)/2 {
		n := copy(f.items, f.items[f.head:])
		clear(f.items[n:])
		f.items, f.head = f.items[:n], 0
	}
	return v
}

// step is a piece of a goroutine's work: how long it takes, and what the goroutine does then without leaving its
// processor; nil when it sleeps or ends.
type step func() (time.Duration, step)

// processors run goroutines in the order in which they became ready, as many at once as there are processors.
type processors struct {
	clock *clock
	idle  int
	ready fifo[step]
	busy  time.Duration
}

// run makes a goroutine ready.
func (p *processors) run(s step) {
	if p.idle == 0 {
		p.ready.push(s)
		return
	}
	p.idle--
	p.work(s)
}

func (p *processors) work(s step) {
	for {
		for s == nil {
			if p.ready.len() == 0 {
				p.idle++
				return
			}
			s = p.ready.pop()
		}
		cost, next := s()
		if cost > 0 {
			p.busy += cost
			p.clock.at(p.clock.now+cost, func() { p.work(next) })
			return
		}
		s = next
	}
}
