package redistest

import (
	"net"
	"sync"
	"time"
)

// link is one client connection and its connection to the server. Three
// goroutines serve it: one passes requests on, one takes replies in, one writes
// replies out. The last two are apart so that replies can be held, and so that
// a client which writes much before it reads cannot block its own requests.
type link struct {
	p      *Proxy
	client *net.TCPConn
	server *net.TCPConn // nil until attach; guarded by mu, then fixed

	mu     sync.Mutex
	cond   sync.Cond // out, end, hold or closed has changed
	queue  []*pending
	out    []byte // replies on their way to the client
	hold   bool
	end    ending // what follows when out is empty
	closed bool
	deaf   bool // the cut is decided: further requests go nowhere
	cutIn  int  // replies until the cut, counted when requests come in; 0: none
}

type ending int

const (
	endNone ending = iota
	endFin         // close in order: the client reads all that was sent
	endReset
)

// pending is one request whose reply is due, in the order of the requests.
type pending struct {
	isFake bool
	fake   []byte
	need   int    // replies of the server still to come
	subs   bool   // (un)subscribe: answered by push frames in RESP3
	drop   bool   // its reply is not passed on
	cut    ending // what happens after its reply
}

func newLink(p *Proxy, client *net.TCPConn, hold bool) *link {
	l := &link{p: p, client: client, hold: hold}
	l.cond.L = &l.mu
	return l
}

// attach sets the server side and reports false if the link was closed before.
func (l *link) attach(server *net.TCPConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = server.Close()
		return false
	}
	l.server = server
	return true
}

// run serves the link until both sides are closed.
func (l *link) run() {
	var wg sync.WaitGroup
	wg.Go(l.readReplies)
	wg.Go(l.writeReplies)
	l.passRequests()
	wg.Wait()
}

// reset closes both sides with RST. It never blocks.
func (l *link) reset() {
	_ = l.client.SetLinger(0)
	l.close()
}

// close closes both sides. It never blocks.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	_ = l.client.Close()
	if l.server != nil {
		_ = l.server.Close()
	}
	l.cond.Broadcast()
}

func (l *link) setHold(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold = on
	l.cond.Broadcast()
}

// writeReplies sends what is in out, and ends the link when that is decided.
func (l *link) writeReplies() {
	for {
		l.mu.Lock()
		for !l.closed && l.end == endNone && (l.hold || len(l.out) == 0) {
			l.cond.Wait()
		}
		out, end, closed := l.out, l.end, l.closed
		l.out = nil
		if l.hold {
			out = nil // an ending does not wait, and what was held is lost
		}
		l.mu.Unlock()
		if closed {
			return
		}
		if len(out) > 0 {
			if _, err := l.client.Write(out); err != nil {
				l.close()
				return
			}
		}
		switch end {
		case endReset:
			l.reset()
			return
		case endFin:
			l.finish()
			return
		}
	}
}

// finish ends the way to the client in order. The connection itself is closed
// by passRequests, once the client has closed it or has had time to: a close
// with unread requests in the buffer would turn into a reset.
func (l *link) finish() {
	_ = l.client.CloseWrite()
	_ = l.client.SetReadDeadline(time.Now().Add(time.Second))
	_ = l.server.Close()
}
