package redistest_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestFindMissing(t *testing.T) {
	t.Setenv("REDIS_SERVER", "no-such-redis-server")
	_, err := redistest.Find()
	if !errors.Is(err, redistest.ErrNoServer) || !strings.Contains(err.Error(), "apt-get install -y redis-server") {
		t.Fatalf("Find: %v", err)
	}
}

// Run must fail the test, not skip it.
func TestRunFailsWithInstallSentence(t *testing.T) {
	t.Setenv("REDIS_SERVER", "no-such-redis-server")
	f := &fakeTB{}
	redistest.Run(f)
	if !strings.Contains(f.fatal, "apt-get install -y redis-server") {
		t.Fatalf("Fatalf got %q", f.fatal)
	}
}

type fakeTB struct{ fatal string }

func (f *fakeTB) Helper()                        {}
func (f *fakeTB) Fatalf(format string, a ...any) { f.fatal = fmt.Sprintf(format, a...) }
func (f *fakeTB) Logf(string, ...any)            {}
func (f *fakeTB) Cleanup(func())                 {}

func TestServerArgsAndInfo(t *testing.T) {
	s := redistest.Run(t, redistest.Args("--maxmemory", "3mb", "--requirepass", "secret"))
	c := s.Client(t)
	got, err := c.ConfigGet(bg, "maxmemory").Result()
	noErr(t, err)
	equal(t, "maxmemory", got["maxmemory"], "3145728")

	noErr(t, s.ResetStats())
	for range 3 {
		noErr(t, c.Incr(bg, "n").Err())
	}
	noErr(t, c.ClientID(bg).Err())
	n, err := s.CommandCalls("INCR")
	noErr(t, err)
	equal(t, "calls of incr", n, 3)
	n, err = s.CommandCalls("client")
	noErr(t, err)
	equal(t, "calls of client", n, 1)
	n, err = s.CommandCalls("get")
	noErr(t, err)
	equal(t, "calls of get", n, 0)

	info, err := s.Info("server")
	noErr(t, err)
	equal(t, "port", info["tcp_port"], fmt.Sprint(s.Port()))

	v, err := s.Do("LRANGE", "none", "0", "-1")
	noErr(t, err)
	equal(t, "elements", len(v.([]any)), 0)
	_, err = s.Do("NOSUCH")
	if e := redistest.ReplyError(""); !errors.As(err, &e) {
		t.Errorf("Do(NOSUCH): %v", err)
	}
	noErr(t, c.Do(bg, "DEBUG", "SLEEP", "0").Err())
}

func TestStartReportsBadConfig(t *testing.T) {
	_, err := redistest.Start(redistest.Args("--no-such-setting", "1"))
	if err == nil || !strings.Contains(err.Error(), "no-such-setting") {
		t.Fatalf("the error does not hold the log: %v", err)
	}
}

func TestKillRestart(t *testing.T) {
	s := redistest.Run(t)
	c := s.Client(t, bare)
	noErr(t, c.Set(bg, "k", "v", 0).Err())
	addr := s.Addr()
	noErr(t, s.Kill())
	noErr(t, s.Kill())
	if err := c.Ping(bg).Err(); err == nil {
		t.Fatal("a killed server answers")
	}
	noErr(t, s.Restart())
	equal(t, "address", s.Addr(), addr)
	// A new client: go-redis remembers a failed dial for up to a second.
	if err := s.Client(t).Get(bg, "k").Err(); err != redis.Nil {
		t.Fatalf("after the restart: %v", err)
	}
	noErr(t, s.Restart()) // of a running one
	noErr(t, s.Close())
	noErr(t, s.Close())
	equal(t, "Kill after Close", s.Kill(), redistest.ErrClosed)
}

func TestFreezeThaw(t *testing.T) {
	s := redistest.Run(t)
	c := s.Client(t, bare, func(o *redis.Options) { o.ReadTimeout = 100 * time.Millisecond })
	noErr(t, c.Ping(bg).Err())
	noErr(t, s.Freeze())
	err := c.Ping(bg).Err()
	if ne := net.Error(nil); !errors.As(err, &ne) || !ne.Timeout() {
		t.Fatalf("frozen: %v", err)
	}
	noErr(t, s.Thaw())
	noErr(t, c.Ping(bg).Err())
	noErr(t, s.Freeze()) // Close must cope with it
}

func TestPortsAndDirs(t *testing.T) {
	var wg sync.WaitGroup
	seen := sync.Map{}
	for range 8 {
		wg.Go(func() {
			s, err := redistest.Start()
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			v, err := s.Do("CONFIG", "GET", "dir")
			if err != nil {
				t.Error(err)
				return
			}
			dir := v.([]any)[1].(string)
			if _, double := seen.LoadOrStore(s.Port(), dir); double {
				t.Errorf("port %d twice", s.Port())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("directory is left: %v", err)
			}
		})
	}
	wg.Wait()
}

func TestFixedPort(t *testing.T) {
	first := redistest.Run(t) // finds a free one
	port := first.Port()
	noErr(t, first.Close())
	s := redistest.Run(t, redistest.Port(port))
	equal(t, "port", s.Port(), port)
	_, err := redistest.Start(redistest.Port(port))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d is already in use", port)) {
		t.Fatalf("second server on one port: %v", err)
	}
}

// A port that another process holds is noticed by the server's own failure.
func TestPortOfAnotherProcess(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noErr(t, err)
	defer l.Close()
	_, err = redistest.Start(redistest.Port(l.Addr().(*net.TCPAddr).Port))
	if err == nil || !strings.Contains(err.Error(), "already in use") {
		t.Fatalf("Start: %v", err)
	}
}

func TestShared(t *testing.T) {
	first, second := redistest.Shared(t), redistest.Shared(t)
	if first != second {
		t.Error("two shared servers")
	}
	noErr(t, redistest.Shared(t).Client(t).Ping(bg).Err())
}

func TestNothingLeaksAfterClose(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s, err := redistest.Start()
	noErr(t, err)
	p, err := redistest.NewProxy(s.Addr())
	noErr(t, err)
	c := redis.NewClient(&redis.Options{Addr: p.Addr()})
	noErr(t, c.Ping(bg).Err())
	noErr(t, p.Close()) // with an open connection
	noErr(t, p.Close())
	noErr(t, c.Close())
	noErr(t, s.Close())
	goleak.VerifyNone(t, before)
}

// The server must not outlive a test binary that is killed. This test runs
// itself as a child, which starts a server, prints its port, and is killed.
func TestServerDiesWithParent(t *testing.T) {
	if os.Getenv("REDISTEST_CHILD") != "" {
		s, err := redistest.Start()
		noErr(t, err)
		fmt.Println("ADDR " + s.Addr())
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerDiesWithParent$", "-test.v")
	cmd.Env = append(os.Environ(), "REDISTEST_CHILD=1", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	noErr(t, err)
	noErr(t, cmd.Start())
	var addr string
	for addr == "" {
		var word string
		if _, err := fmt.Fscan(out, &word); err != nil {
			t.Fatal(err)
		}
		if word == "ADDR" {
			_, err = fmt.Fscan(out, &addr)
			noErr(t, err)
		}
	}
	dial := func() error {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err
	}
	noErr(t, dial())
	noErr(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for deadline := time.Now().Add(time.Minute); dial() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server outlived its parent")
		}
	}
}

// Ports for other programs are not those of servers, nor handed out twice.
func TestFreePort(t *testing.T) {
	seen := map[int]bool{}
	for range 300 {
		p, err := redistest.FreePort()
		noErr(t, err)
		if seen[p] || p < 22000 || p >= 27000 {
			t.Fatalf("port %d, after %d others", p, len(seen))
		}
		seen[p] = true
	}
}
