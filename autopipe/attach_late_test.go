package autopipe_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
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
