package autopipe_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// census counts the clients of nodes that came and those that were collected as garbage.
type census struct{ came, gone atomic.Int64 }

func (c *census) add(node *redis.Client) {
	c.came.Add(1)
	runtime.AddCleanup(node, func(c *census) { c.gone.Add(1) }, c)
}

// alive collects garbage and returns how many node clients are left.
func (c *census) alive() int64 {
	runtime.GC()
	return c.came.Load() - c.gone.Load()
}

// TestTopology_RingNodesComeAndGo: the shards of a ring are replaced a hundred times under load. Nothing of a shard that
// has gone is kept: not its client (which its lane leads to), nor a goroutine. No command fails but those that go-redis
// itself sent to a closed client, and none runs twice.
func TestTopology_RingNodesComeAndGo(t *testing.T) {
	const rounds = 100
	a, b, other := redistest.Run(t), redistest.Run(t), redistest.Run(t)
	for _, way := range hookWays {
		t.Run(way, func(t *testing.T) {
			rdb := ringOf(t, nil, a, b)
			var nodes census
			rdb.OnNewNode(nodes.add)
			ap := hookBy(way, rdb)
			var all [6]*tally // on both shards
			for i := range all {
				all[i] = &tally{key: fmt.Sprint("counter ", way, i)}
			}
			stop := company(24, func(i int) {
				// A closed client's connections are in a state for which its pool has two names.
				if err := all[i%len(all)].incr(rdb); err != nil && !errors.Is(err, redis.ErrClosed) && !isUncertain(err) &&
					!strings.Contains(err.Error(), "connection marked for handoff") {
					t.Errorf("INCR: %v", err)
				}
			})
			defer stop()
			baseline := runtime.NumGoroutine()
			for i := range rounds {
				third := b
				if i%2 == 0 {
					third = other
				}
				rdb.SetAddrs(map[string]string{"a": a.Addr(), "b": third.Addr()})
				for _, k := range all {
					before := k.ok.Load()
					until(t, "load", func() bool { return k.ok.Load() > before+5 })
				}
			}
			returns(t, stop)
			for _, k := range all {
				sum := int64(0)
				for _, srv := range []*redistest.Server{a, b, other} {
					sum += counterOn(t, srv, k.key)
				}
				k.check(t, sum, k.ok.Load())
			}
			if nodes.came.Load() != rounds {
				t.Errorf("%d clients of shards were made, want %d", nodes.came.Load(), rounds)
			}
			atRest(t, ap)
			until(t, "the clients of gone shards are collected", func() bool { return nodes.alive() <= 2 })
			until(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= baseline })
			checkStats(t, ap, all[:]...)
			t.Logf("%d of %d node clients are left; %v", nodes.alive(), nodes.came.Load(), ap.Stats())
		})
	}
}

// TestTopology_ClusterClientsComeAndGo: cluster clients are made, attached, used and closed: no goroutine stays. go-redis
// itself keeps the state of a cluster client for a minute after each look at the topology; with AUTOPIPE_STRESS the test
// waits for that, and then neither clients nor those of their nodes nor hooks are left.
func TestTopology_ClusterClientsComeAndGo(t *testing.T) {
	c := redistest.RunCluster(t, 3, 0)
	var clients, nodes census
	var hooks atomic.Int64
	use := func(n int) {
		for range n {
			rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
			rdb.OnNewNode(nodes.add)
			clients.came.Add(1)
			runtime.AddCleanup(rdb, func(c *census) { c.gone.Add(1) }, &clients)
			ap := autopipe.Attach(rdb)
			hooks.Add(1)
			runtime.AddCleanup(ap, func(left *atomic.Int64) { left.Add(-1) }, &hooks)
			many(20, func(i int) {
				if err := rdb.Set(bg, fmt.Sprint("key", i), i, 0).Err(); err != nil {
					t.Error(err)
				}
			})
			if err := rdb.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	use(5)
	until(t, "goroutines end", func() bool { return engineGoroutines() == 0 })
	baseline := runtime.NumGoroutine()
	use(95)
	until(t, "goroutines end", func() bool { return engineGoroutines() == 0 && runtime.NumGoroutine() <= baseline+2 })
	if nodes.came.Load() != 300 {
		t.Errorf("%d node clients were made, want 300", nodes.came.Load())
	}
	if os.Getenv("AUTOPIPE_STRESS") == "" {
		return
	}
	untilWithin(t, 90*time.Second, "all is collected", func() bool {
		time.Sleep(time.Second)
		runtime.GC()
		return clients.alive() <= 1 && nodes.alive() <= 3 && hooks.Load() <= 1 // the last may be on this stack
	})
}
