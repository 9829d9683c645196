package autopipe_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// TestAttach_RingShardDownAtFirst: a shard that is down when the first command is sent has a lane all the same, once it is
// there.
func TestAttach_RingShardDownAtFirst(t *testing.T) {
	a, b := redistest.Run(t), redistest.Run(t)
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewRing(&redis.RingOptions{
		Addrs: map[string]string{"a": a.Addr(), "b": b.Addr()}, HeartbeatFrequency: 20 * time.Millisecond, DialerRetries: 1,
	})
	defer func() { _ = rdb.Close() }()
	until(t, "the ring knows that a shard is down", func() bool { return rdb.Len() == 1 })
	w := &nodeWatch{}
	autopipe.Attach(rdb, autopipe.WithObserver(w))
	rdb.Get(bg, "first")
	if err := b.Restart(); err != nil {
		t.Fatal(err)
	}
	until(t, "the ring has both shards", func() bool { return rdb.Len() == 2 })
	many(100, func(i int) { rdb.Get(bg, fmt.Sprint("key", i)) })
	if n := w.nodes(); n[b.Addr()] == 0 {
		t.Errorf("commands by node: %v, none for %s", n, b.Addr())
	}
}

// TestAttach_ClusterDownAtFirst: nodes that the client knew before Attach get their lanes even if the cluster could not be
// reached by the first command, or the first caller's context had ended.
func TestAttach_ClusterDownAtFirst(t *testing.T) {
	c := redistest.RunCluster(t, 3, 0)
	for _, s := range c.Nodes {
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	rdb := c.Client(t, func(o *redis.ClusterOptions) { o.DialerRetries, o.MaxRedirects = 1, -1 })
	if err := rdb.Get(bg, "before").Err(); err == nil {
		t.Fatal("a dead cluster answered")
	}
	w := &nodeWatch{}
	autopipe.Attach(rdb, autopipe.WithObserver(w))
	if err := rdb.Get(bg, "first").Err(); err == nil {
		t.Fatal("a dead cluster answered")
	}
	for _, s := range c.Nodes {
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.WaitReady(); err != nil {
		t.Fatal(err)
	}
	many(100, func(i int) {
		if err := rdb.Set(bg, fmt.Sprint("key", i), i, 0).Err(); err != nil {
			t.Error(err)
		}
	})
	if n := w.nodes(); len(n) != 3 {
		t.Errorf("commands by node: %v, want all of %v", n, c.Addrs())
	}
}

// TestAttach_UpkeepIsUncounted: the pings by which go-redis watches nodes (a Ring's heartbeat, the latency probes of
// RouteByLatency, the look whether a replica is loading) are not the user's commands.
func TestAttach_UpkeepIsUncounted(t *testing.T) {
	const sent = 30
	load := func(rdb redis.UniversalClient) {
		for i := range sent {
			if err := rdb.Get(bg, fmt.Sprint("key", i)).Err(); err != redis.Nil {
				t.Error(err)
			}
		}
	}
	check := func(t *testing.T, ap *autopipe.Hook) {
		t.Helper()
		var n uint64
		s := ap.Stats()
		for _, v := range s.Outcomes {
			n += v
		}
		if n != sent {
			t.Errorf("%d commands were counted, want %d: %v", n, sent, s)
		}
	}
	t.Run("ring heartbeat", func(t *testing.T) {
		a := redistest.Run(t)
		rdb := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": a.Addr()}, HeartbeatFrequency: 10 * time.Millisecond})
		defer func() { _ = rdb.Close() }()
		ap := autopipe.Attach(rdb)
		load(rdb)
		time.Sleep(100 * time.Millisecond)
		check(t, ap)
	})
	c := redistest.RunCluster(t, 3, 1)
	for name, tune := range map[string]func(*redis.ClusterOptions){
		"read only":  func(o *redis.ClusterOptions) { o.ReadOnly = true },
		"by latency": func(o *redis.ClusterOptions) { o.RouteByLatency = true },
	} {
		t.Run(name, func(t *testing.T) {
			rdb := c.Client(t, tune)
			ap := autopipe.Attach(rdb)
			load(rdb)
			time.Sleep(300 * time.Millisecond) // ten probes of each node, 10 to 20 ms apart
			check(t, ap)
		})
	}
	t.Run("the user's own ping is counted", func(t *testing.T) {
		rdb := c.Client(t)
		ap := autopipe.Attach(rdb)
		for range sent {
			if err := rdb.Ping(bg).Err(); err != nil {
				t.Error(err)
			}
		}
		check(t, ap)
	})
}

// holder is an observer that leads to the client, as those do that read its pool statistics.
type holder struct{ rdb redis.UniversalClient }

func (h *holder) Attach(telemetry.Pipe) telemetry.Events {
	return telemetry.Events{BatchEnd: func(context.Context, *telemetry.Batch) { _ = h.rdb }}
}

// TestAttach_KeepsNoClient: a client or ring that is closed and dropped is collected, although Attach remembers its hook and
// the hook's observer the client. go-redis itself keeps a cluster client for a minute: that is
// TestTopology_ClusterClientsComeAndGo.
func TestAttach_KeepsNoClient(t *testing.T) {
	s := redistest.Run(t)
	for name, dial := range map[string]func(gone func()) redis.UniversalClient{
		"client": func(gone func()) redis.UniversalClient {
			c := redis.NewClient(&redis.Options{Addr: s.Addr()})
			runtime.AddCleanup(c, func(f func()) { f() }, gone)
			return c
		},
		"ring": func(gone func()) redis.UniversalClient {
			c := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": s.Addr()}})
			runtime.AddCleanup(c, func(f func()) { f() }, gone)
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			var gone atomic.Bool
			func() {
				rdb := dial(func() { gone.Store(true) })
				o := &holder{rdb}
				autopipe.Attach(rdb, autopipe.WithObserver(o))
				many(50, func(i int) {
					if err := rdb.Set(bg, fmt.Sprint("key", i), i, 0).Err(); err != nil {
						t.Error(err)
					}
				})
				if err := rdb.Close(); err != nil {
					t.Error(err)
				}
			}()
			until(t, "the client is collected", func() bool { runtime.GC(); return gone.Load() })
		})
	}
}
