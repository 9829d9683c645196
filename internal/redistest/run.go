package redistest

import (
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Run starts a server for one test and closes it with the test. Without a
// redis-server the test fails, and says how to install one: a test that is
// silently skipped proves nothing.
func Run(tb TB, opts ...Option) *Server {
	tb.Helper()
	s, err := Start(opts...)
	return must(tb, s, err)
}

// must fails the test on an error and else closes v at its end.
func must[T interface{ Close() error }](tb TB, v T, err error) T {
	tb.Helper()
	if err != nil {
		tb.Fatalf("%v", err)
		return v
	}
	closeAfter(tb, v)
	return v
}

// closeAfter closes c at the end of the test.
func closeAfter(tb TB, c interface{ Close() error }) {
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Logf("redistest: close: %v", err)
		}
	})
}

// Client returns a go-redis client of the server, closed at the end of the
// test. The options are go-redis's defaults but for maintenance notifications,
// which are off; opts change them.
func (s *Server) Client(tb TB, opts ...func(*redis.Options)) *redis.Client {
	tb.Helper()
	o := &redis.Options{Addr: s.Addr(), Password: s.password, MaintNotificationsConfig: noMaintNotifications()}
	for _, f := range opts {
		f(o)
	}
	c := redis.NewClient(o)
	closeAfter(tb, c)
	return c
}

// noMaintNotifications turns maintenance notifications off. When a server
// refuses them, as Redis 7 does, go-redis 9.23 changes the options that a
// client shares with its Conns: a data race under -race that is not ours.
func noMaintNotifications() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

var shared struct {
	sync.Mutex
	server *Server
}

// Shared returns one server for all tests of a test binary, started at the
// first call. Tests that use it must choose their own keys and leave the
// server running and thawed. Whoever uses it must call [CloseShared] at the
// end; [Main] does.
func Shared(tb TB) *Server {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		s, err := Start()
		if err != nil {
			tb.Fatalf("%v", err)
			return nil
		}
		shared.server = s
	}
	return shared.server
}

// CloseShared closes the server of [Shared], if there is one.
func CloseShared() error {
	shared.Lock()
	defer shared.Unlock()
	s := shared.server
	shared.server = nil
	if s == nil {
		return nil
	}
	return s.Close()
}

// M is what [Main] takes and gives: testing.M has it.
type M interface{ Run() int }

// Main wraps a *testing.M so that the shared server is closed right after the
// tests, before anybody looks for leaked goroutines:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(redistest.Main(m)) }
func Main(m M) M { return mainM{m} }

type mainM struct{ m M }

// Run runs the tests, then closes the shared server.
func (w mainM) Run() int {
	code := w.m.Run()
	if err := CloseShared(); err != nil && code == 0 {
		return 1
	}
	return code
}
