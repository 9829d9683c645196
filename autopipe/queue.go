package autopipe

// queue holds the calls of one lane that wait for a batch, in the order admitted. It is a linked list through the calls
// themselves, so that a caller can leave from the middle. The lane's lock guards it.
type queue struct {
	head, tail *call
	n          int // commands; a unit counts as many as it holds
	bytes      int // of all requests together, approximate
}

func (q *queue) push(c *call) {
	c.prev, c.next = q.tail, nil
	if q.tail != nil {
		q.tail.next = c
	} else {
		q.head = c
	}
	q.tail = c
	q.n += c.weight()
	q.bytes += c.load()
	c.setQueued(true)
}

// remove takes c out, wherever it stands. It must be queued.
func (q *queue) remove(c *call) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		q.head = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		q.tail = c.prev
	}
	c.prev, c.next = nil, nil
	q.n -= c.weight()
	q.bytes -= c.load()
	c.setQueued(false)
}

func (c *call) setQueued(q bool) {
	if c.queued = q; c.unit != nil {
		c.unit.queued = q
	}
}
