package netdelay

import (
	"net"
	"sync"
)

// outlet is the sending side of one direction.
type outlet struct {
	conn *net.TCPConn
	try  func([]byte) (int, error) // sends what fits now, without waiting

	mu       sync.Mutex
	backlog  []*chunk // what did not fit, in order
	spilling bool     // a goroutine works off the backlog
	ended    bool     // nothing more will come
	done     chan struct{}
}

func newOutlet(conn *net.TCPConn) (*outlet, error) {
	try, err := nonblocking(conn)
	if err != nil {
		return nil, err
	}
	return &outlet{conn: conn, try: try, done: make(chan struct{})}, nil
}

// send is called by the queue's goroutine alone, so it must not wait.
func (o *outlet) send(c *chunk) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spilling {
		o.backlog = append(o.backlog, c)
		return
	}
	n, err := o.try(c.data)
	if err != nil || n == len(c.data) {
		// An error shows itself to the reader of this connection as well, which ends
		// the stream.
		c.free()
		return
	}
	c.data = c.data[n:]
	o.backlog = append(o.backlog, c)
	o.spilling = true
	go o.spill()
}

// spill works off the backlog at the receiver's pace.
func (o *outlet) spill() {
	for {
		o.mu.Lock()
		if len(o.backlog) == 0 {
			o.spilling = false
			if o.ended {
				o.finish()
			}
			o.mu.Unlock()
			return
		}
		todo := o.backlog
		o.backlog = nil
		o.mu.Unlock()
		for _, c := range todo {
			// After an error the writes fail at once; the backlog drains all the same.
			_, _ = o.conn.Write(c.data)
			c.free()
		}
	}
}

// end of the stream: half-closes the connection when all is sent.
func (o *outlet) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.ended = true
	if !o.spilling {
		o.finish()
	}
}

func (o *outlet) finish() {
	_ = o.conn.CloseWrite()
	close(o.done)
}

// wait until the end of the stream has been passed on.
func (o *outlet) wait() { <-o.done }
