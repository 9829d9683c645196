package autopipe_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// multiKey are commands with the keys k[0] to k[2].
var multiKey = map[string]func(c redis.UniversalClient, k [3]string) redis.Cmder{
	"MGET":        func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.MGet(bg, k[:]...) },
	"MSET":        func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.MSet(bg, k[0], 1, k[1], 2) },
	"MSETNX":      func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.MSetNX(bg, k[0], 1, k[1], 2) },
	"DEL":         func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.Del(bg, k[:]...) },
	"UNLINK":      func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.Unlink(bg, k[:]...) },
	"EXISTS":      func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.Exists(bg, k[:]...) },
	"TOUCH":       func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.Touch(bg, k[:]...) },
	"RENAME":      func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.Rename(bg, k[0], k[1]) },
	"COPY":        func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.Copy(bg, k[0], k[1], 0, false) },
	"SUNION":      func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.SUnion(bg, k[:]...) },
	"SINTERSTORE": func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.SInterStore(bg, k[0], k[1], k[2]) },
	"PFCOUNT":     func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.PFCount(bg, k[:]...) },
	"BITOP":       func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.BitOpAnd(bg, k[0], k[1], k[2]) },
	"LMOVE": func(c redis.UniversalClient, k [3]string) redis.Cmder {
		return c.LMove(bg, k[0], k[1], "LEFT", "RIGHT")
	},
	"EVAL": func(c redis.UniversalClient, k [3]string) redis.Cmder {
		return c.Eval(bg, "return redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3])", k[:])
	},
	"raw mget": func(c redis.UniversalClient, k [3]string) redis.Cmder { return c.Do(bg, "mget", k[0], k[1]) },
}

// TestTopology_CrossSlot: a command whose keys lie in several slots fails as it does on a plain client, in the same
// words, changes nothing, and harms no neighbour; with keys of one slot it works, in batches too.
func TestTopology_CrossSlot(t *testing.T) {
	c := redistest.RunCluster(t, 3, 0)
	plain := c.Client(t)
	apart := [3]string{"a", "b", "c"}
	for _, k := range apart[1:] {
		if redistest.Slot(k) == redistest.Slot(apart[0]) {
			t.Fatal("choose other keys")
		}
	}
	for _, way := range hookWays {
		rdb := c.Client(t)
		ap := hookBy(way, rdb)
		stop := company(32, func(i int) {
			if err := rdb.Incr(bg, fmt.Sprint("neighbour", i)).Err(); err != nil {
				t.Errorf("neighbour: %v", err)
			}
		})
		defer stop()
		for name, call := range multiKey {
			t.Run(way+"/"+name, func(t *testing.T) {
				want := outcomeText(call(plain, apart))
				if !strings.Contains(want, "CROSSSLOT") {
					t.Fatalf("plain: %s", want)
				}
				many(20, func(int) {
					if got := outcomeText(call(rdb, apart)); got != want {
						t.Errorf("over slots: %s; plain %s", got, want)
					}
				})
				together := func(of string) [3]string {
					tag := fmt.Sprintf("{%s:%s:%s}", of, way, name)
					return [3]string{tag + "a", tag + "b", tag + "c"}
				}
				if got, want := outcomeText(call(rdb, together("ours"))), outcomeText(call(plain, together("plain"))); got != want {
					t.Errorf("in one slot: %s; plain %s", got, want)
				}
			})
		}
		stop()
		for _, k := range apart {
			if n := plain.Exists(bg, k).Val(); n != 0 {
				t.Errorf("%s exists: a refused command changed something", k)
			}
		}
		mustShare(t, ap)
	}
}

// TestTopology_CrossSlotTogether: transactions, Watch and windows over several slots end as on a plain client.
func TestTopology_CrossSlotTogether(t *testing.T) {
	c := redistest.RunCluster(t, 3, 0)
	plain := c.Client(t)
	nothing := func(*redis.Tx) error { return nil }
	two := func(p redis.Pipeliner) error { p.Incr(bg, "a"); p.Incr(bg, "b"); return nil }
	for _, way := range hookWays {
		t.Run(way, func(t *testing.T) {
			rdb := c.Client(t)
			hookBy(way, rdb)
			for name, call := range map[string]func(*redis.ClusterClient) error{
				"Watch":      func(c *redis.ClusterClient) error { return c.Watch(bg, nothing, "a", "b") },
				"TxPipeline": func(c *redis.ClusterClient) error { _, err := c.TxPipelined(bg, two); return err },
			} {
				if got, want := fmt.Sprint(call(rdb)), fmt.Sprint(call(plain)); got != want {
					t.Errorf("%s: %s; plain %s", name, got, want)
				}
			}
			plain.Del(bg, "a")
			plain.Del(bg, "b")
			w := autopipe.NewWindow(rdb) // a window is a pipeline: its commands may lie anywhere
			a, b, bad := w.Incr(bg, "a"), w.Incr(bg, "b"), w.MGet(bg, "a", "b")
			_ = w.Submit(bg).Wait(bg)
			if a.Val() != 1 || b.Val() != 1 || !strings.HasPrefix(fmt.Sprint(bad.Err()), "CROSSSLOT") {
				t.Errorf("window: %v, %v, %v", a, b, bad)
			}
		})
	}
}

// outcomeText is the reply and the error of a command as text.
func outcomeText(cmd redis.Cmder) string { return diffOutcome("", cmd) }
