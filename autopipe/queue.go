package autopipe

// queue holds what waits for a batch in one lane, in the order admitted. It is a linked list, so that a caller can leave
// from the middle. The lane's lock guards it.
type queue struct {
	head, tail *node
	n          int // commands
	bytes      int // of all requests together, approximate
}

// node is a place in the queue, of a single call or of a unit.
type node struct {
	next, prev *node
	queued     bool
	n, bytes   int // commands, and bytes of their requests

	single *single
	unit   *unit
}

func (q *queue) push(e *node) {
	e.prev, e.next = q.tail, nil
	if q.tail != nil {
		q.tail.next = e
	} else {
		q.head = e
	}
	q.tail = e
	q.n += e.n
	q.bytes += e.bytes
	e.queued = true
}

// remove takes e out, wherever it stands. It must be queued.
func (q *queue) remove(e *node) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		q.head = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		q.tail = e.prev
	}
	e.prev, e.next = nil, nil
	q.n -= e.n
	q.bytes -= e.bytes
	e.queued = false
}
