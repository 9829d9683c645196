package redistest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const loading = "-LOADING Redis is loading the dataset in memory\r\n"

func TestCutAfterRequest(t *testing.T) {
	s, p := fresh(t)
	w := dial(t, p.Addr())
	w.send("INCR a")
	w.want(":1\r\n")
	r := p.CutAfterRequest("incr N") // any case
	w.send("INCR a", "INCR n", "INCR b")
	w.wantEnd(true)
	equal(t, "fired", r.Fired(), 1)
	wantCounter(t, s, "a", "2") // the whole chunk ran, nothing was answered
	wantCounter(t, s, "n", "1")
	wantCounter(t, s, "b", "1")

	x := dial(t, p.Addr()) // once only
	x.send("INCR n")
	x.want(":2\r\n")
}

func TestCutBeforeRequest(t *testing.T) {
	s, p := fresh(t)
	w := dial(t, p.Addr())
	p.CutBeforeRequest("incr n")
	w.send("INCR a", "INCR n")
	w.wantEnd(true)
	wantCounter(t, s, "a", "<nil>")
	wantCounter(t, s, "n", "<nil>")
}

func TestCutAfterReplies(t *testing.T) {
	s, p := fresh(t)
	w := dial(t, p.Addr())
	p.CutAfterReplies("incr n", 2)
	w.send("INCR n", "INCR n", "INCR n", "INCR n")
	w.want(":1\r\n:2\r\n")
	w.wantEnd(false)
	wantCounter(t, s, "n", "4")

	// Replies of any form count as one, whatever the pieces they come in.
	_, err := s.Do("SET", "big", strings.Repeat("x", 300_000))
	noErr(t, err)
	w = dial(t, p.Addr())
	p.CutAfterReplies("mget big", 1)
	w.send("MGET big none big", "INCR n")
	w.want("*3\r\n$300000\r\n" + strings.Repeat("x", 300_000) + "\r\n$-1\r\n$300000\r\n" + strings.Repeat("x", 300_000) + "\r\n")
	w.wantEnd(false)
	wantCounter(t, s, "n", "5")

	// More replies than the chunk has: later chunks count on.
	w = dial(t, p.Addr())
	p.CutAfterReplies("incr x", 3)
	w.send("INCR x", "INCR x")
	w.want(":1\r\n:2\r\n")
	w.send("INCR x", "INCR x")
	w.want(":3\r\n")
	w.wantEnd(false)
}

// A cut does not wait for replies that are held: they are lost with it.
func TestCutWhileHeld(t *testing.T) {
	s, p := fresh(t)
	w := dial(t, p.Addr())
	p.HoldReplies(true)
	p.CutAfterReplies("incr n", 1)
	w.send("INCR n", "INCR n")
	w.wantEnd(false)
	wantCounter(t, s, "n", "2")
}

func TestFakeReply(t *testing.T) {
	s, p := fresh(t)
	w := dial(t, p.Addr())
	r := p.FakeReply("incr n", loading, 2)
	w.send("INCR n", "INCR a", "INCR n", "INCR n", "INCR a")
	w.want(loading + ":1\r\n" + loading + ":1\r\n:2\r\n")
	equal(t, "fired", r.Fired(), 2)
	wantCounter(t, s, "n", "1")

	// Without a bound, until Clear; alone in its chunk, and behind a reply
	// that takes its time.
	p.FakeReply("get slow", "$4\r\nfake\r\n", 0)
	w.send("GET slow")
	w.want("$4\r\nfake\r\n")
	begin := time.Now()
	w.send("BLPOP none 0.05", "GET slow", "GET a")
	w.want("*-1\r\n$4\r\nfake\r\n$1\r\n2\r\n")
	if d := time.Since(begin); d < 50*time.Millisecond {
		t.Errorf("the fake came before the reply in front of it: after %v", d)
	}
	p.Clear()
	w.send("GET slow")
	w.want("$-1\r\n")

	// A fake counts as a reply of a chunk that is cut.
	p.FakeReply("get f1", "+F\r\n", 1)
	p.CutAfterReplies("get f2", 2)
	w.send("GET a", "GET f1", "GET f2")
	w.want("$1\r\n2\r\n+F\r\n")
	w.wantEnd(false)
}

func TestFakeReplyThroughGoRedis(t *testing.T) {
	s, p := fresh(t)
	c := redis.NewClient(&redis.Options{Addr: p.Addr()})
	defer c.Close()
	noErr(t, s.ResetStats())
	r := p.FakeReply("set k", loading, 1)
	noErr(t, c.Set(bg, "k", "v", 0).Err()) // go-redis tries again
	equal(t, "fired", r.Fired(), 1)
	n, err := s.CommandCalls("set")
	noErr(t, err)
	equal(t, "calls", n, 1)
}

// Push frames are replies to nothing, but the answer to a SUBSCRIBE.
func TestPushFrames(t *testing.T) {
	s, p := fresh(t)
	w := dial(t, p.Addr())
	w.send("HELLO 3")
	readHello(w)
	w.send("SUBSCRIBE c1 c2", "GET none")
	w.want(">3\r\n$9\r\nsubscribe\r\n$2\r\nc1\r\n:1\r\n>3\r\n$9\r\nsubscribe\r\n$2\r\nc2\r\n:2\r\n_\r\n")

	r := p.FakeReply("get fake", "+F\r\n", 1)
	cut := p.CutAfterReplies("get last", 2)
	w.send("BLPOP none 0.1", "GET fake") // the push comes in front of the reply
	waitFor(t, 5*time.Second, func() bool { return r.Fired() == 1 })
	_, err := s.Do("PUBLISH", "c1", "hi")
	noErr(t, err)
	w.want(">3\r\n$7\r\nmessage\r\n$2\r\nc1\r\n$2\r\nhi\r\n_\r\n+F\r\n")

	// A push between does not use up one of the two replies.
	w.send("PUBLISH c2 yo", "GET last", "PING")
	w.want(">3\r\n$7\r\nmessage\r\n$2\r\nc2\r\n$2\r\nyo\r\n:1\r\n_\r\n")
	w.wantEnd(false)
	equal(t, "fired", cut.Fired(), 1)
}

// readHello reads the map that HELLO answers, up to its last field.
func readHello(w wire) {
	for {
		line, err := w.r.ReadString('\n')
		noErr(w.t, err)
		if strings.Contains(line, "modules") {
			w.want("*0\r\n")
			return
		}
	}
}
