package redistest

import (
	"bytes"
	"slices"
)

// maxChunk bounds how long passRequests waits for the end of a request before
// it passes on the complete ones in front of it.
const maxChunk = 1 << 20

// passRequests reads from the client until it closes.
func (l *link) passRequests() {
	defer l.close()
	var (
		scan   = frameScanner{inline: true}
		buf    []byte
		frames [][]byte // complete requests at the start of buf
		size   int      // their length
		raw    bool     // not RESP: pass the bytes on as they are
		read   = make([]byte, 64<<10)
	)
	for {
		n, err := l.client.Read(read)
		if err != nil {
			return
		}
		buf = append(buf, read[:n]...)
		for !raw && size < len(buf) {
			m, err := scan.next(buf[size:])
			if err != nil {
				raw = true
			}
			if m == 0 {
				break
			}
			frames = append(frames, buf[size:size+m:size+m])
			size += m
		}
		if raw {
			size = len(buf)
		}
		if size == 0 || size < len(buf) && len(buf) < maxChunk {
			continue
		}
		if !l.forward(buf[:size], frames) {
			return
		}
		// A new buffer, as the frames of this chunk lie in the old one.
		buf, frames, size = bytes.Clone(buf[size:]), nil, 0
	}
}

// forward decides about one chunk and sends to the server what is left of it.
func (l *link) forward(chunk []byte, frames [][]byte) bool {
	l.mu.Lock()
	deaf := l.deaf
	l.mu.Unlock()
	rules, cut := l.inspect(frames)
	switch {
	case deaf:
		return true
	case cut != nil && cut.kind == cutBefore:
		l.reset()
		return false
	}
	if len(rules) > 0 {
		chunk = nil
		for i, f := range frames {
			if rules[i] == nil {
				chunk = append(chunk, f...)
			}
		}
	}
	// The replies must be expected before the server can send them.
	l.expect(frames, rules, cut)
	if len(chunk) == 0 {
		return true
	}
	if _, err := l.server.Write(chunk); err != nil {
		// The server is gone. readReplies sees that too and ends the link in
		// order; until then the client's requests go nowhere.
		l.mu.Lock()
		l.deaf = true
		l.mu.Unlock()
	}
	return true
}

// inspect counts and shows the requests of a chunk. It returns the fake rule of
// each, by index, and the first rule that cuts.
func (l *link) inspect(frames [][]byte) (fakes map[int]*Rule, cut *Rule) {
	hook, armed := l.p.hook.Load(), l.p.armed()
	for i, f := range frames {
		l.p.requests.Add(1)
		if hook == nil && !armed {
			continue
		}
		args := requestArgs(f)
		if hook != nil {
			words := make([]string, len(args))
			for j, a := range args {
				words[j] = string(a)
			}
			(*hook)(words)
		}
		if cut != nil || !armed {
			continue
		}
		switch r := l.p.fire(args); {
		case r == nil:
		case r.kind == fake:
			if fakes == nil {
				fakes = map[int]*Rule{}
			}
			fakes[i] = r
		default:
			cut = r
		}
	}
	return fakes, cut
}

// expect adds the requests of a chunk to the queue of replies that are due.
func (l *link) expect(frames [][]byte, fakes map[int]*Rule, cut *Rule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var entries []*pending
	for i, f := range frames {
		if r := fakes[i]; r != nil {
			entries = append(entries, &pending{isFake: true, fake: r.fake})
		} else if e := newPending(f); e != nil {
			entries = append(entries, e)
		}
	}
	switch {
	case len(entries) == 0:
		return
	case cut != nil:
		// The server runs the whole chunk, the client gets n replies of it.
		for i, e := range entries {
			e.drop = i >= cut.n
		}
		l.cutIn = max(cut.n, len(entries))
	}
	if l.cutIn > 0 {
		if l.cutIn <= len(entries) {
			last := entries[l.cutIn-1]
			last.cut, l.deaf = endFin, true
			if cut != nil && cut.n == 0 {
				last.cut = endReset
			}
		} else {
			l.cutIn -= len(entries)
		}
	}
	l.queue = append(l.queue, entries...)
	l.answerFakes()
	l.cond.Broadcast()
}

// newPending returns what a request has to wait for, nil if it gets no reply.
func newPending(frame []byte) *pending {
	// An empty line or array is no command for Redis, and is not answered.
	if len(bytes.TrimSpace(frame)) == 0 || bytes.HasPrefix(frame, []byte("*0")) {
		return nil
	}
	e := &pending{need: 1}
	// All names end in "subscribe"; look only at what may be one.
	if head := frame[:min(len(frame), 40)]; bytes.Contains(bytes.ToLower(head), []byte("subscribe")) {
		if args := requestArgs(frame); len(args) > 0 && isSubscribe(string(bytes.ToLower(args[0]))) {
			e.subs, e.need = true, max(1, len(args)-1) // one reply for each channel
		}
	}
	return e
}

func isSubscribe(name string) bool {
	return slices.Contains([]string{"subscribe", "psubscribe", "ssubscribe",
		"unsubscribe", "punsubscribe", "sunsubscribe"}, name)
}

// readReplies reads from the server until it closes.
func (l *link) readReplies() {
	var (
		scan frameScanner
		buf  []byte
		raw  bool
		read = make([]byte, 64<<10)
	)
	for {
		n, err := l.server.Read(read)
		if err != nil {
			break
		}
		buf = append(buf, read[:n]...)
		l.mu.Lock()
		size := 0
		for !raw && size < len(buf) {
			m, err := scan.next(buf[size:])
			if err != nil {
				raw = true
			}
			if m == 0 {
				break
			}
			l.deliver(buf[size : size+m])
			size += m
		}
		if raw {
			l.out = append(l.out, buf[size:]...)
			size = len(buf)
		}
		buf = append(buf[:0], buf[size:]...)
		l.cond.Broadcast()
		l.mu.Unlock()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end == endNone {
		l.end = endFin
	}
	l.deaf = true
	l.cond.Broadcast()
}

// deliver takes in one complete frame of the server. It is called with mu held,
// as is what it calls.
func (l *link) deliver(frame []byte) {
	if l.end != endNone {
		return // the cut has come
	}
	var head *pending // never a fake: those are answered when they get there
	if len(l.queue) > 0 {
		head = l.queue[0]
	}
	push := frame[0] == '>'
	if push && (head == nil || !head.subs || !isSubscribe(pushKind(frame))) {
		head = nil // a push is the reply to nothing but a SUBSCRIBE
	}
	if head == nil {
		l.out = append(l.out, frame...)
		return
	}
	if !head.drop {
		l.out = append(l.out, frame...)
	}
	if head.need--; head.need == 0 {
		l.settled()
		l.answerFakes()
	}
}

// answerFakes answers the fakes that have come to the head of the queue.
func (l *link) answerFakes() {
	for len(l.queue) > 0 && l.queue[0].isFake && l.end == endNone {
		if e := l.queue[0]; !e.drop {
			l.out = append(l.out, e.fake...)
		}
		l.settled()
	}
}

// settled removes the head of the queue and acts on its cut.
func (l *link) settled() {
	if c := l.queue[0].cut; c != endNone {
		l.end = c
	}
	l.queue[0] = nil
	l.queue = l.queue[1:]
}
