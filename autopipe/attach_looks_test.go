package autopipe_test

import (
	"runtime/metrics"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestAttach_LooksOnlyWhenShardsChange: while a shard of a ring is down, or after one was taken away, commands do not look
// for it each time: a lone caller's commands start no goroutine.
func TestAttach_LooksOnlyWhenShardsChange(t *testing.T) {
	created := func() uint64 {
		s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	check := func(t *testing.T, rdb *redis.Ring) {
		t.Helper()
		autopipe.Attach(rdb)
		key := ringKeys(t, rdb, rdb.GetShardClients()[0].Options().Addr, "key", 1)[0]
		for range 20 {
			rdb.Get(bg, key)
		}
		before := created()
		for range 1000 {
			if err := rdb.Get(bg, key).Err(); err != redis.Nil {
				t.Fatal(err)
			}
		}
		if n := created() - before; n > 200 { // the heartbeat's and the runtime's own
			t.Errorf("%d goroutines for a lone caller's 1000 commands", n)
		}
	}
	t.Run("a shard is down", func(t *testing.T) {
		a, b := redistest.Run(t), redistest.Run(t)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		rdb := ringOf(t, func(o *redis.RingOptions) { o.HeartbeatFrequency = 20 * time.Millisecond }, a, b)
		until(t, "the ring drops the dead shard", func() bool { return rdb.Len() == 1 })
		check(t, rdb)
	})
	t.Run("a shard was replaced before Attach", func(t *testing.T) {
		a, b, c := redistest.Run(t), redistest.Run(t), redistest.Run(t)
		rdb := ringOf(t, nil, a, b)
		rdb.SetAddrs(map[string]string{"a": a.Addr(), "b": c.Addr()})
		check(t, rdb)
	})
}
