package autopipe_test

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

var bg = context.Background()

// hooked makes a client of the shared server with a fresh hook.
func hooked(t *testing.T, opts ...autopipe.Option) (*redis.Client, *autopipe.Hook) {
	t.Helper()
	srv := redistest.Shared(t)
	plain := srv.Client(t)
	t.Cleanup(func() { // keys are named after the test, which may run again on this server
		for it := plain.Scan(bg, 0, t.Name()+"*", 1000).Iterator(); it.Next(bg); {
			plain.Del(bg, it.Val())
		}
	})
	return hookedOn(t, srv, nil, opts...)
}

// hookedOn makes a client of srv with a fresh hook; tune may be nil.
func hookedOn(t *testing.T, srv *redistest.Server, tune func(*redis.Options), opts ...autopipe.Option) (*redis.Client, *autopipe.Hook) {
	t.Helper()
	if tune == nil {
		tune = func(*redis.Options) {}
	}
	rdb, ap := srv.Client(t, tune), autopipe.New(opts...)
	rdb.AddHook(ap)
	return rdb, ap
}

// many runs f on n goroutines and waits for all. f must not use t.Fatal.
func many(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// company keeps n goroutines busy with f until the returned function is called, which waits for them.
func company(n int, f func(i int)) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					f(i)
				}
			}
		})
	}
	return sync.OnceFunc(func() { close(done); wg.Wait() })
}

// until waits for a condition that other goroutines bring about.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("waited a minute in vain for: %s", what)
		}
	}
}

// atRest waits until nothing is queued, nothing is in flight and no goroutine runs code of the engine. What go-redis
// itself keeps running is not counted.
func atRest(t *testing.T, ap *autopipe.Hook) {
	t.Helper()
	until(t, "the hook is at rest", func() bool {
		s := ap.Stats()
		return s.Queued == 0 && s.InFlight == 0 && engineGoroutines() == 0
	})
}

// engineGoroutines counts the goroutines with a function of the engine (not of these tests) on their stack.
func engineGoroutines() int {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	count := 0
	for g := range strings.SplitSeq(string(buf), "\n\n") {
		if strings.Contains(g, "/redis-autopipe/autopipe.(*") || strings.Contains(g, "/redis-autopipe/hook.") {
			count++
		}
	}
	return count
}

// mustShare fails the test if its load was not batched, for then it has proved nothing.
func mustShare(t *testing.T, ap *autopipe.Hook) {
	t.Helper()
	if s := ap.Stats(); s.MeanBatch() <= 1.05 {
		t.Fatalf("the load was not batched: %v", s)
	}
}

// serverDo runs one command on the server, around go-redis.
func serverDo(t *testing.T, srv *redistest.Server, args ...string) any {
	t.Helper()
	v, err := srv.Do(args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

// serverInfo is one field of INFO.
func serverInfo(t *testing.T, srv *redistest.Server, section, field string) string {
	t.Helper()
	m, err := srv.Info(section)
	if err != nil {
		t.Fatal(err)
	}
	return m[field]
}

// serverCalls is how often the server ran a command.
func serverCalls(t *testing.T, srv *redistest.Server, name string) int64 {
	t.Helper()
	n, err := srv.CommandCalls(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// isUncertain reports whether err is the error of a write that may have run.
func isUncertain(err error) bool {
	var u *autopipe.UncertainError
	return errors.As(err, &u)
}

// isNetError reports whether err says, in go-redis's own words, that the connection broke.
func isNetError(err error) bool {
	var ne net.Error
	return errors.Is(err, io.EOF) || errors.As(err, &ne)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func largest(s []int) (m int) {
	for _, v := range s {
		m = max(m, v)
	}
	return m
}

// observer is a telemetry.Observer that is nothing but its method.
type observer func(telemetry.Pipe) telemetry.Events

func (o observer) Attach(p telemetry.Pipe) telemetry.Events { return o(p) }
