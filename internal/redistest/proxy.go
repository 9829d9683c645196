package redistest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy is a TCP proxy before a Redis server that can lose connections,
// requests and replies at an exact point. It splits both directions into
// complete requests and replies and keeps the order that Redis promises.
//
// All controls may be used at any time, from any goroutine. It does not know
// what CLIENT REPLY OFF does to the number of replies.
type Proxy struct {
	target string
	port   int
	ctx    context.Context // ends the dials to the target
	cancel context.CancelFunc
	wg     sync.WaitGroup

	requests atomic.Int64
	conns    atomic.Int64
	hook     atomic.Pointer[func(args []string)]

	mu       sync.Mutex
	listener *net.TCPListener // nil while dials are refused
	links    map[*link]struct{}
	rules    []*Rule
	dropNew  bool
	hold     bool
	closed   bool
}

// NewProxy listens on a free loopback port and passes everything on to target
// until it is told otherwise. The caller must Close it. See [RunProxy] for
// tests.
func NewProxy(target string) (*Proxy, error) {
	p := &Proxy{target: target, links: map[*link]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	var err error
	for range startTries {
		if p.port, err = reservePort(); err != nil {
			break
		}
		p.mu.Lock()
		err = p.listen()
		p.mu.Unlock()
		if err == nil {
			return p, nil
		}
		releasePort(p.port)
	}
	p.cancel()
	return nil, err
}

// RunProxy is [NewProxy] for one test: it fails the test on an error and closes
// the proxy with the test.
func RunProxy(tb TB, target string) *Proxy {
	tb.Helper()
	p, err := NewProxy(target)
	return must(tb, p, err)
}

// Addr returns the host:port that clients dial.
func (p *Proxy) Addr() string { return hostPort(p.port) }

// Requests returns how many requests the proxy has seen, those that it did not
// pass on included.
func (p *Proxy) Requests() int64 { return p.requests.Load() }

// Conns returns how many connections the proxy has accepted, those that it
// closed at once included.
func (p *Proxy) Conns() int64 { return p.conns.Load() }

// OnRequest has f called with the arguments of every request, before it goes
// on to the server. The calls for one connection come in order, those for
// several at the same time. A nil f ends it. From f all controls may be used, but not Close.
func (p *Proxy) OnRequest(f func(args []string)) {
	if f == nil {
		p.hook.Store(nil)
		return
	}
	p.hook.Store(&f)
}

// CutAll resets all current connections (RST). New ones are not affected.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.reset()
	}
}

// Refuse(true) closes the listener, so that new dials are refused; Refuse(false)
// listens again on the same port. Connections that exist go on: see
// [Proxy.CutAll].
func (p *Proxy) Refuse(on bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed, on == (p.listener == nil):
		return nil
	case on:
		l := p.listener
		p.listener = nil
		return l.Close()
	}
	return p.listen()
}

// DropNew(true) accepts new connections and closes them at once, as a full or
// dying server does; DropNew(false) ends that.
func (p *Proxy) DropNew(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropNew = on
}

// HoldReplies(true) stops the way back: requests still reach the server and
// run, their replies wait in the proxy until HoldReplies(false). A connection
// that ends meanwhile loses the replies that wait.
func (p *Proxy) HoldReplies(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = on
	for l := range p.links {
		l.setHold(on)
	}
}

// Close ends all connections and returns when nothing of the proxy is left. It
// may be called more than once.
func (p *Proxy) Close() error {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.cancel()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	for l := range p.links {
		l.reset()
	}
	p.mu.Unlock()
	p.wg.Wait()
	if first {
		releasePort(p.port)
	}
	return nil
}

// listen opens the port and starts to accept. It is called with mu held.
func (p *Proxy) listen() error {
	l, err := net.Listen("tcp", p.Addr())
	if err != nil {
		return fmt.Errorf("redistest: proxy: %w", err)
	}
	p.listener = l.(*net.TCPListener)
	p.wg.Add(1)
	go p.accept(p.listener)
	return nil
}

func (p *Proxy) accept(l *net.TCPListener) {
	defer p.wg.Done()
	for {
		c, err := l.AcceptTCP()
		if err != nil {
			return
		}
		p.conns.Add(1)
		p.mu.Lock()
		if p.closed || p.dropNew {
			_ = c.Close()
		} else {
			k := newLink(p, c, p.hold)
			p.links[k] = struct{}{}
			p.wg.Add(1)
			go p.serve(k)
		}
		p.mu.Unlock()
	}
}

// serve connects one client with the target and returns when both are closed.
func (p *Proxy) serve(l *link) {
	defer p.wg.Done()
	defer func() {
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
	}()
	d := net.Dialer{Timeout: 5 * time.Second}
	c, err := d.DialContext(p.ctx, "tcp", p.target)
	if err != nil {
		l.reset()
		return
	}
	if l.attach(c.(*net.TCPConn)) {
		l.run()
	}
}
