// Package netdelay is a TCP proxy that adds latency to a link and nothing else:
// no bandwidth limit, and as little CPU as it can.
//
// All chunks of all connections wait in one queue. The delay is the same for each,
// so the queue is in due order by itself, and one goroutine with one timer serves
// it: it sleeps until the first chunk is due and sends all that are. What a
// receiver does not take at once moves to that connection's own backlog, so that a
// slow receiver holds up nobody else.
//
// Run it in a process of its own when the CPU time of the clients is measured.
package netdelay

import (
	"net"
	"sync"
	"time"
)

// Proxy forwards connections to a target, each direction late by half the delay.
type Proxy struct {
	target string
	ln     net.Listener
	queue  *queue

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	work   sync.WaitGroup
}

// Listen on addr ("127.0.0.1:0" for a free port) and forward to target. A command
// and its reply together take delay longer than without the proxy.
func Listen(addr, target string, delay time.Duration) (*Proxy, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	q, err := newQueue(delay / 2)
	if err != nil {
		ln.Close()
		return nil, err
	}
	p := &Proxy{target: target, ln: ln, queue: q, conns: map[net.Conn]struct{}{}}
	p.work.Go(q.serve)
	p.work.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.ln.Addr().String() }

// Close cuts every connection and waits until nothing of the proxy runs.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	err := p.ln.Close()
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.queue.close()
	p.work.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		c, err := p.ln.Accept()
		if err != nil {
			return
		}
		if !p.track(c) {
			return
		}
		// A dial takes time, and a SYN through the real link would as well: neither may
		// hold up the next one.
		p.work.Go(func() { p.connect(c.(*net.TCPConn)) })
	}
}

// track remembers c so that Close can cut it; false, with c closed, after Close.
func (p *Proxy) track(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) connect(client *net.TCPConn) {
	defer p.forget(client)
	s, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	if !p.track(s) {
		return
	}
	server := s.(*net.TCPConn)
	defer p.forget(server)

	var both sync.WaitGroup
	both.Go(func() { p.pump(client, server) })
	both.Go(func() { p.pump(server, client) })
	both.Wait()
}

func (p *Proxy) forget(c net.Conn) {
	c.Close()
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
}

// pump reads from src and queues what it read for dst, until either ends; then
// waits until the last queued chunk is through.
func (p *Proxy) pump(src, dst *net.TCPConn) {
	out, err := newOutlet(dst)
	if err != nil {
		src.Close()
		return
	}
	for {
		c := newChunk()
		n, err := src.Read(c.room[:])
		if n > 0 {
			c.data = c.room[:n]
			p.queue.put(c, out)
			// The chunk belongs to the queue now.
		} else {
			c.free()
		}
		if err != nil {
			break
		}
	}
	// The end of the stream travels as late as the data before it.
	p.queue.put(nil, out)
	out.wait()
}
