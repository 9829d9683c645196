package redistest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// wire is a client that writes and reads bytes, so that a test decides what
// travels together.
type wire struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, addr string) wire {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	noErr(t, err)
	t.Cleanup(func() { _ = c.Close() })
	noErr(t, c.SetDeadline(time.Now().Add(time.Minute)))
	return wire{t, c, bufio.NewReader(c)}
}

// send writes commands, given as words, in one write.
func (w wire) send(cmds ...string) {
	w.t.Helper()
	var b []byte
	for _, c := range cmds {
		words := strings.Fields(c)
		b = fmt.Appendf(b, "*%d\r\n", len(words))
		for _, a := range words {
			b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
		}
	}
	_, err := w.Write(b)
	noErr(w.t, err)
}

// want reads exactly these bytes.
func (w wire) want(reply string) {
	w.t.Helper()
	b := make([]byte, len(reply))
	n, err := io.ReadFull(w.r, b)
	if string(b[:n]) != reply {
		w.t.Fatalf("got %q (%v), want %q", b[:n], err, reply)
	}
}

// wantEnd checks that nothing comes but the end: a reset or an orderly one.
func (w wire) wantEnd(reset bool) {
	w.t.Helper()
	b, err := w.r.ReadByte()
	if reset && !errors.Is(err, syscall.ECONNRESET) || !reset && err != io.EOF {
		w.t.Fatalf("got %q, %v; want reset=%v", b, err, reset)
	}
}

func wantCounter(t *testing.T, s *redistest.Server, key, want string) {
	t.Helper()
	v, err := s.Do("GET", key)
	noErr(t, err)
	if got := fmt.Sprint(v); got != want {
		t.Errorf("%s = %s, want %s", key, got, want)
	}
}

// fresh gives a server without keys and a proxy before it.
func fresh(t *testing.T) (*redistest.Server, *redistest.Proxy) {
	t.Helper()
	s := redistest.Shared(t)
	_, err := s.Do("FLUSHALL")
	noErr(t, err)
	return s, redistest.RunProxy(t, s.Addr())
}

func TestProxyPassesEverything(t *testing.T) {
	s, p := fresh(t)
	var mu sync.Mutex
	var seen []string
	p.OnRequest(func(args []string) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, strings.Join(args, " "))
	})
	w := dial(t, p.Addr())
	w.send("SET k v", "GET k", "MGET k none")
	w.want("+OK\r\n$1\r\nv\r\n*2\r\n$1\r\nv\r\n$-1\r\n")
	_, err := w.Write([]byte("PING hi\r\n\r\nPING\r\n")) // inline, an empty line between
	noErr(t, err)
	w.want("$2\r\nhi\r\n+PONG\r\n")
	for _, b := range []byte("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n") { // in pieces
		_, err := w.Write([]byte{b})
		noErr(t, err)
	}
	w.want("$1\r\nv\r\n")
	p.OnRequest(nil)
	w.send("PING")
	w.want("+PONG\r\n")

	equal(t, "conns", p.Conns(), 1)
	equal(t, "requests", p.Requests(), 8)
	mu.Lock()
	equal(t, "seen", strings.Join(seen, ";"), "SET k v;GET k;MGET k none;PING hi;;PING;GET k")
	mu.Unlock()

	// Large values, both ways, many clients.
	big := strings.Repeat("x", 8<<20)
	c := redis.NewClient(&redis.Options{Addr: p.Addr()})
	defer c.Close()
	noErr(t, c.Set(bg, "big", big, 0).Err())
	got, err := c.Get(bg, "big").Result()
	noErr(t, err)
	if got != big {
		t.Errorf("big value: %d bytes came back", len(got))
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 50 {
				if err := c.Incr(bg, "many").Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantCounter(t, s, "many", "1000")
}

func TestProxyCutAllRefuseDrop(t *testing.T) {
	_, p := fresh(t)
	a, b := dial(t, p.Addr()), dial(t, p.Addr())
	a.send("PING")
	a.want("+PONG\r\n")
	b.send("PING")
	b.want("+PONG\r\n")
	p.CutAll()
	a.wantEnd(true)
	b.wantEnd(true)

	c := dial(t, p.Addr()) // new ones work
	c.send("PING")
	c.want("+PONG\r\n")
	noErr(t, p.Refuse(true))
	noErr(t, p.Refuse(true))
	if _, err := net.Dial("tcp", p.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("dial: %v", err)
	}
	c.send("PING") // an old one goes on
	c.want("+PONG\r\n")
	noErr(t, p.Refuse(false))
	dial(t, p.Addr()).Close()

	p.DropNew(true)
	d := dial(t, p.Addr())
	d.wantEnd(false)
	p.DropNew(false)
	e := dial(t, p.Addr())
	e.send("PING")
	e.want("+PONG\r\n")
}

func TestProxyHoldReplies(t *testing.T) {
	s, p := fresh(t)
	w := dial(t, p.Addr())
	w.send("INCR n")
	w.want(":1\r\n")
	p.HoldReplies(true)
	w.send("INCR n", "INCR n")
	late := dial(t, p.Addr()) // opened while held
	late.send("INCR m")
	waitFor(t, 5*time.Second, func() bool {
		n, _ := s.Do("GET", "n")
		m, _ := s.Do("GET", "m")
		return n == any("3") && m == any("1")
	})
	noErr(t, w.SetReadDeadline(time.Now().Add(30*time.Millisecond)))
	if _, err := w.r.Peek(1); err == nil {
		t.Fatal("a reply came through")
	}
	noErr(t, w.SetReadDeadline(time.Now().Add(time.Minute)))
	p.HoldReplies(false)
	w.want(":2\r\n:3\r\n")
	late.want(":1\r\n")
}

func waitFor(t *testing.T, long time.Duration, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(long); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited too long")
		}
	}
}

func TestProxyServerGone(t *testing.T) {
	s := redistest.Run(t)
	p := redistest.RunProxy(t, s.Addr())
	w := dial(t, p.Addr())
	w.send("PING")
	w.want("+PONG\r\n")
	noErr(t, s.Kill())
	w.wantEnd(false)
	// The proxy cannot reach it. The reset may come before the dial is done.
	x, err := net.Dial("tcp", p.Addr())
	if err == nil {
		_, err = x.Read(make([]byte, 1))
		_ = x.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("with the server down: %v", err)
	}
	noErr(t, s.Restart())
	y := dial(t, p.Addr())
	y.send("PING")
	y.want("+PONG\r\n")
}

// What the proxy is for: plain go-redis runs an INCR twice when its first
// reply is lost.
func TestProxyShowsGoRedisReplay(t *testing.T) {
	s, p := fresh(t)
	c := redis.NewClient(&redis.Options{Addr: p.Addr(), MaxRetries: 1})
	defer c.Close()
	r := p.CutAfterRequest("incr n")
	v, err := c.Incr(bg, "n").Result()
	noErr(t, err)
	equal(t, "reply", v, 2)
	equal(t, "fired", r.Fired(), 1)
	wantCounter(t, s, "n", "2")

	p.CutBeforeRequest("incr m")
	v, err = c.Incr(bg, "m").Result()
	noErr(t, err)
	equal(t, "reply", v, 1)
}
