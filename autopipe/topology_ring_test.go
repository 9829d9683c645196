package autopipe_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// ringOf makes a Ring of servers named a, b ... ; tune may be nil.
func ringOf(t *testing.T, tune func(*redis.RingOptions), servers ...*redistest.Server) *redis.Ring {
	t.Helper()
	o := &redis.RingOptions{Addrs: map[string]string{}, DialerRetries: 1, HeartbeatFrequency: time.Hour}
	for i, s := range servers {
		o.Addrs[string(rune('a'+i))] = s.Addr()
	}
	if tune != nil {
		tune(o)
	}
	rdb := redis.NewRing(o)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// ringKeys finds keys of the shard at addr.
func ringKeys(t *testing.T, rdb *redis.Ring, addr, prefix string, n int) (keys []string) {
	t.Helper()
	for i := 0; len(keys) < n; i++ {
		k := fmt.Sprint(prefix, i)
		shard, err := rdb.GetShardClientForKey(k)
		if err != nil {
			t.Fatal(err)
		}
		if shard.Options().Addr == addr {
			keys = append(keys, k)
		}
	}
	return keys
}

// TestTopology_RingShardDies: a shard dies under load. Its commands fail and are known not to have run, or are uncertain;
// those of the other shard all succeed and are counted once. When it is back it works again.
func TestTopology_RingShardDies(t *testing.T) {
	for _, way := range hookWays {
		t.Run(way, func(t *testing.T) {
			log := redistest.Args("--appendonly", "yes", "--appendfsync", "no") // what was acknowledged is there after a restart
			alive, dead := redistest.Run(t), redistest.Run(t, log)
			rdb := ringOf(t, func(o *redis.RingOptions) { o.MaxRetries = 1 }, alive, dead)
			ap := hookBy(way, rdb)
			var all []*tally
			for _, srv := range []*redistest.Server{alive, dead} {
				for _, k := range ringKeys(t, rdb, srv.Addr(), "counter", 4) {
					all = append(all, &tally{key: k})
				}
			}
			stop := company(80, func(i int) {
				k := all[i%8]
				if err := k.incr(rdb); err != nil && i%8 < 4 {
					t.Errorf("a command of the living shard: %v", err)
				}
			})
			defer stop()
			ok := func(k *tally, n int64) {
				before := k.ok.Load()
				until(t, k.key+" works", func() bool { return k.ok.Load() >= before+n })
			}
			for _, k := range all {
				ok(k, 200)
			}
			if err := dead.Kill(); err != nil {
				t.Fatal(err)
			}
			for i, k := range all {
				if i < 4 {
					ok(k, 50)
					continue
				}
				before := k.failed.Load()
				until(t, "errors of the dead shard", func() bool { return k.failed.Load() > before+5 })
			}
			if err := dead.Restart(); err != nil {
				t.Fatal(err)
			}
			for _, k := range all {
				ok(k, 50)
			}
			returns(t, stop)
			for i, k := range all {
				srv := alive
				if i >= 4 {
					srv = dead
				}
				k.check(t, counterOn(t, srv, k.key), k.ok.Load())
				if i < 4 && k.failed.Load()+k.uncertain.Load() != 0 {
					t.Errorf("%s of the living shard: %v", k.key, k)
				}
			}
			checkStats(t, ap, all...)
			mustShare(t, ap)
			atRest(t, ap)
			t.Log(ap.Stats())
		})
	}
}

// TestTopology_RingRebalances: with heartbeats the ring gives a dead shard's keys to the others, as a plain one does, and
// takes them back later.
func TestTopology_RingRebalances(t *testing.T) {
	for _, way := range hookWays {
		t.Run(way, func(t *testing.T) {
			a, b := redistest.Run(t), redistest.Run(t)
			rdb := ringOf(t, func(o *redis.RingOptions) { o.HeartbeatFrequency = 20 * time.Millisecond }, a, b)
			ap := hookBy(way, rdb)
			keys := ringKeys(t, rdb, b.Addr(), "key", 50)
			set := func(on *redistest.Server) {
				t.Helper()
				before := serverCalls(t, on, "set")
				many(len(keys), func(i int) {
					if err := rdb.Set(bg, keys[i], "v", 0).Err(); err != nil {
						t.Error(err)
					}
				})
				if n := serverCalls(t, on, "set") - before; n != int64(len(keys)) {
					t.Errorf("%d of %d keys were set on the right shard", n, len(keys))
				}
			}
			set(b)
			if err := b.Kill(); err != nil {
				t.Fatal(err)
			}
			until(t, "the ring drops the dead shard", func() bool { return rdb.Len() == 1 })
			set(a)
			if err := b.Restart(); err != nil {
				t.Fatal(err)
			}
			until(t, "the ring takes it back", func() bool { return rdb.Len() == 2 })
			set(b)
			mustShare(t, ap)
		})
	}
}

// TestTopology_RingKeyless: commands without a key go to some shard of a ring. In company too the answers are those
// that a plain ring gives, and with Attach over many calls all of them. (With AddHook such a command in a batch goes where
// go-redis's pipelines send it: always to the same shard, by the command's name.)
func TestTopology_RingKeyless(t *testing.T) {
	servers := []*redistest.Server{redistest.Run(t), redistest.Run(t)}
	for i, s := range servers {
		for k := range 10 + i { // so that the shards' answers differ
			serverDo(t, s, "SET", fmt.Sprint("key", i, k), fmt.Sprint(i))
		}
	}
	calls := map[string]func(redis.UniversalClient) redis.Cmder{
		"PING":        func(c redis.UniversalClient) redis.Cmder { return c.Ping(bg) },
		"ECHO":        func(c redis.UniversalClient) redis.Cmder { return c.Echo(bg, "hello") },
		"DBSIZE":      func(c redis.UniversalClient) redis.Cmder { return c.DBSize(bg) },
		"raw dbsize":  func(c redis.UniversalClient) redis.Cmder { return c.Do(bg, "dbsize") },
		"KEYS":        func(c redis.UniversalClient) redis.Cmder { return c.Keys(bg, "key*") },
		"SCRIPT LOAD": func(c redis.UniversalClient) redis.Cmder { return c.ScriptLoad(bg, "return 1") },
		"EVAL":        func(c redis.UniversalClient) redis.Cmder { return c.Eval(bg, "return redis.call('DBSIZE')", nil) },
		"PUBLISH":     func(c redis.UniversalClient) redis.Cmder { return c.Publish(bg, "nobody", "x") },
		"CLIENT ID":   func(c redis.UniversalClient) redis.Cmder { return redis.NewIntResult(0, c.ClientID(bg).Err()) },
		"unknown":     func(c redis.UniversalClient) redis.Cmder { return c.Do(bg, "nosuchcommand") },
	}
	answers := func(rdb redis.UniversalClient, call func(redis.UniversalClient) redis.Cmder) []string {
		var all []string
		for range 40 {
			all = append(all, sortedReply(call(rdb)))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	plain := ringOf(t, nil, servers...)
	for _, way := range hookWays {
		rdb := ringOf(t, nil, servers...)
		ap := hookBy(way, rdb)
		stop := company(16, func(i int) { rdb.Get(bg, fmt.Sprint("other", i)) })
		defer stop()
		for name, call := range calls {
			t.Run(way+"/"+name, func(t *testing.T) {
				possible, got := answers(plain, call), answers(rdb, call)
				for _, a := range got {
					if !slices.Contains(possible, a) {
						t.Errorf("the answer %s; plain %v", a, possible)
					}
				}
				if way == "Attach" && len(got) < len(possible) {
					t.Errorf("40 calls gave %v; plain %v", got, possible)
				}
			})
		}
		stop()
		mustShare(t, ap)
	}
}
