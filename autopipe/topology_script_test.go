package autopipe_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestTopology_Scripts: Script.Run of many callers on a cluster whose nodes forget their scripts again and again falls back
// to EVAL for whoever meets NOSCRIPT, and each run counts once.
func TestTopology_Scripts(t *testing.T) {
	const callers, keys = 200, 30
	c := redistest.RunCluster(t, 3, 0)
	script := redis.NewScript("return redis.call('INCRBY', KEYS[1], ARGV[1])")
	for _, way := range hookWays {
		t.Run(way, func(t *testing.T) {
			rdb := c.Client(t)
			ap := hookBy(way, rdb)
			var runs [keys]atomic.Int64
			key := func(k int) string { return fmt.Sprint(way, " key ", k) }
			stop := company(callers, func(i int) {
				k := i % keys
				if _, err := script.Run(bg, rdb, []string{key(k)}, 1).Int64(); err != nil {
					t.Error(err)
				}
				runs[k].Add(1)
			})
			defer stop()
			for round := range 20 {
				time.Sleep(10 * time.Millisecond)
				if round%4 == 0 { // all nodes, by the client itself
					if err := rdb.ScriptFlush(bg).Err(); err != nil {
						t.Error(err)
					}
				} else {
					serverDo(t, c.Nodes[round%3], "SCRIPT", "FLUSH")
				}
			}
			returns(t, stop)
			for k := range keys {
				if n, err := rdb.Get(bg, key(k)).Int64(); n != runs[k].Load() || err != nil {
					t.Errorf("%s is %d after %d runs, %v", key(k), n, runs[k].Load(), err)
				}
			}
			for _, n := range c.Nodes {
				if serverCalls(t, n, "eval") == 0 {
					t.Errorf("%s never had to load the script", n.Addr())
				}
			}
			// Two commands (EVALSHA, EVAL) for a run that met NOSCRIPT, which is a reply like another.
			s := ap.Stats()
			var sum int64
			for k := range keys {
				sum += runs[k].Load()
			}
			if s.Outcomes["uncertain"]+s.Outcomes["transport_error"] != 0 || s.Outcomes["server_error"] == 0 || s.Outcomes["ok"] < uint64(sum) {
				t.Errorf("%d runs, %v", sum, s)
			}
			mustShare(t, ap)

			// A script that calls its keys in several slots is refused as on a plain client.
			apart := []string{"a", "b"}
			got, want := script.Run(bg, rdb, apart, 1).Err(), script.Run(bg, c.Client(t), apart, 1).Err()
			if want == nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("over slots: %v; plain %v", got, want)
			}
		})
	}
}
