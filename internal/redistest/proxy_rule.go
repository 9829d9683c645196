package redistest

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
)

// Rule is one fault that waits for its request. Its match is compared with the
// arguments of each request, joined by blanks, without regard to case:
// "incr counter" matches INCR counter. A rule matches if that text contains it,
// so name the key as well: "set" alone is also found in CLIENT SETINFO, which
// go-redis sends on each new connection.
type Rule struct {
	kind  ruleKind
	match []byte
	n     int    // cutAfter: replies let through
	fake  []byte // fake: what to answer
	times int    // how often it may still fire; guarded by Proxy.mu
	fired atomic.Int64
}

type ruleKind int

const (
	cutBefore ruleKind = iota
	cutAfter
	fake
)

// Fired returns how often the rule has matched a request so far.
func (r *Rule) Fired() int { return int(r.fired.Load()) }

// CutBeforeRequest resets the connection that sends a matching request, once.
// Nothing of the chunk that holds the request reaches the server.
//
// A chunk is what arrives together, up to the end of a request: in practice all
// that a client writes at once, such as a pipeline of less than a megabyte.
func (p *Proxy) CutBeforeRequest(match string) *Rule {
	return p.arm(&Rule{kind: cutBefore, times: 1}, match)
}

// CutAfterRequest lets the server run the whole chunk that holds a matching
// request, waits for its replies, drops them all, and then resets the
// connection, once: the commands ran, their replies are lost. Replies of
// earlier chunks go through.
func (p *Proxy) CutAfterRequest(match string) *Rule {
	return p.CutAfterReplies(match, 0)
}

// CutAfterReplies is [Proxy.CutAfterRequest], but the first n replies go
// through, counted from the first request of the chunk that holds the match.
// If n is larger than the chunk, it goes on to count the replies of later ones.
// For n above 0 the client sees the end of the stream after them, not a reset,
// so that none of the n can get lost.
func (p *Proxy) CutAfterReplies(match string, n int) *Rule {
	return p.arm(&Rule{kind: cutAfter, n: n, times: 1}, match)
}

// FakeReply answers the next matching requests itself, with reply in its wire
// form, such as "-LOADING Redis is loading the dataset in memory\r\n". The
// server never sees them; the other requests around them go on and all replies
// keep their order. With times 0 or less it does so until [Proxy.Clear].
func (p *Proxy) FakeReply(match, reply string, times int) *Rule {
	if times <= 0 {
		times = -1
	}
	return p.arm(&Rule{kind: fake, fake: []byte(reply), times: times}, match)
}

// Clear removes all rules that wait. A connection whose cut is already decided
// is still cut.
func (p *Proxy) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
}

func (p *Proxy) arm(r *Rule, match string) *Rule {
	r.match = []byte(strings.ToLower(match))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, r)
	return r
}

// armed reports whether any rule waits, so that the common case costs nothing.
func (p *Proxy) armed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.rules) > 0
}

// fire returns the first rule that matches the request and uses it up once.
func (p *Proxy) fire(args [][]byte) *Rule {
	text := bytes.ToLower(bytes.Join(args, []byte(" ")))
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, r := range p.rules {
		if !bytes.Contains(text, r.match) {
			continue
		}
		r.fired.Add(1)
		if r.times > 0 {
			if r.times--; r.times == 0 {
				p.rules = slices.Delete(p.rules, i, i+1)
			}
		}
		return r
	}
	return nil
}
