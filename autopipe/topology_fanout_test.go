package autopipe_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// fanOut are calls whose answer is the whole cluster's. Those below dynamic are so only with the command policies that
// go-redis reads from the server (NewDynamicResolver).
var fanOut = []struct {
	name    string
	dynamic bool
	call    func(*redis.ClusterClient) redis.Cmder
}{
	{"DBSize", false, func(c *redis.ClusterClient) redis.Cmder { return c.DBSize(bg) }},
	{"ScriptLoad", false, func(c *redis.ClusterClient) redis.Cmder { return c.ScriptLoad(bg, "return 'here'") }},
	{"ScriptExists", false, func(c *redis.ClusterClient) redis.Cmder {
		return c.ScriptExists(bg, redis.NewScript("return 'here'").Hash(), "0000000000000000000000000000000000000000")
	}},
	{"ScriptFlush", false, func(c *redis.ClusterClient) redis.Cmder { return c.ScriptFlush(bg) }},
	{"Ping", false, func(c *redis.ClusterClient) redis.Cmder { return c.Ping(bg) }},
	{"Do dbsize", true, func(c *redis.ClusterClient) redis.Cmder { return c.Do(bg, "dbsize") }},
	{"Do DBSIZE", true, func(c *redis.ClusterClient) redis.Cmder { return c.Do(bg, "DBSIZE") }},
	{"Keys", true, func(c *redis.ClusterClient) redis.Cmder { return c.Keys(bg, "key*") }},
	{"Do keys", true, func(c *redis.ClusterClient) redis.Cmder { return c.Do(bg, "keys", "key*") }},
	{"Exists", true, func(c *redis.ClusterClient) redis.Cmder { return c.Exists(bg, "key1", "key2", "key3", "no") }},
	{"Touch", true, func(c *redis.ClusterClient) redis.Cmder { return c.Touch(bg, "key1", "key2", "key3", "no") }},
	{"MGet", true, func(c *redis.ClusterClient) redis.Cmder { return c.MGet(bg, "key1", "no", "key2", "key3") }},
	{"MSet", true, func(c *redis.ClusterClient) redis.Cmder { return c.MSet(bg, "new1", "1", "new2", "2", "new3", "3") }},
	{"MGet of those", true, func(c *redis.ClusterClient) redis.Cmder { return c.MGet(bg, "new1", "new2", "new3") }},
	{"Unlink", true, func(c *redis.ClusterClient) redis.Cmder { return c.Unlink(bg, "new1", "no", "new2") }},
	{"Del", true, func(c *redis.ClusterClient) redis.Cmder { return c.Del(bg, "new3", "none", "nothing") }},
	{"Do del", true, func(c *redis.ClusterClient) redis.Cmder { return c.Do(bg, "del", "new1", "new2", "new3") }},
	{"FlushAll", true, func(c *redis.ClusterClient) redis.Cmder { return c.FlushAll(bg) }},
	{"DBSize after it", false, func(c *redis.ClusterClient) redis.Cmder { return c.DBSize(bg) }},
}

// TestTopology_FanOut: what go-redis sends to several nodes gives the answer of the whole cluster, as it does on a plain
// client that makes the same calls, while other callers' batches travel.
func TestTopology_FanOut(t *testing.T) {
	const keys = 300
	answers := func(t *testing.T, way string, dynamic bool) []string {
		c := redistest.RunCluster(t, 3, 1)
		rdb := c.Client(t)
		if dynamic {
			rdb.SetCommandInfoResolver(rdb.NewDynamicResolver())
		}
		if way != "plain" {
			ap := hookBy(way, rdb)
			defer func() { mustShare(t, ap); atRest(t, ap) }()
		}
		many(100, func(i int) {
			for k := i; k < keys; k += 100 {
				if err := rdb.Set(bg, fmt.Sprint("key", k), k, 0).Err(); err != nil {
					t.Error(err)
				}
			}
		})
		replicasListed(t, c)
		stop := company(64, func(i int) { rdb.Get(bg, fmt.Sprint("other", i)) })
		defer stop()
		var all []string
		for _, f := range fanOut {
			if dynamic || !f.dynamic {
				all = append(all, f.name+": "+sortedReply(f.call(rdb)))
			}
		}
		return all
	}
	for _, dynamic := range []bool{false, true} {
		want := answers(t, "plain", dynamic)
		for _, way := range hookWays {
			t.Run(fmt.Sprintf("%s/dynamic=%v", way, dynamic), func(t *testing.T) {
				for i, got := range answers(t, way, dynamic) {
					if got != want[i] {
						t.Errorf("%.300s\nplain: %.300s", got, want[i])
					}
				}
			})
		}
		if want[0] != fmt.Sprintf("DBSize: %d <nil>", keys) && want[0] != fmt.Sprintf("DBSize: <nil> %d", keys) {
			t.Errorf("the plain client's own answer is %s", want[0])
		}
	}
}
