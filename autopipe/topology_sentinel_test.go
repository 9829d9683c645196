package autopipe_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestTopology_SentinelKinds: both kinds of client that follow a Sentinel, with Attach and with AddHook, through one
// failover under load. Every call returns, and the counters are within what the callers know. The master stops writing
// before it dies, so that Redis itself loses nothing.
func TestTopology_SentinelKinds(t *testing.T) {
	s := redistest.RunSentinel(t, 2, 3)
	type user struct {
		tally
		rdb redis.UniversalClient
		ap  *autopipe.Hook
	}
	var users []*user
	for _, way := range hookWays {
		add := func(kind string, rdb redis.UniversalClient) {
			t.Cleanup(func() { _ = rdb.Close() })
			users = append(users, &user{tally: tally{key: kind + " " + way}, rdb: rdb, ap: hookBy(way, rdb)})
		}
		add("failover", redis.NewFailoverClient(sentinelOptions(s)))
		routed := sentinelOptions(s)
		routed.RouteRandomly = true
		add("failover cluster", redis.NewFailoverClusterClient(routed))
	}
	var stops []func()
	for _, u := range users {
		stop := company(30, func(int) {
			_ = u.incr(u.rdb)
			time.Sleep(time.Millisecond) // the sentinels need the processors too
		})
		defer stop()
		stops = append(stops, stop)
	}
	for _, u := range users {
		untilWithin(t, time.Minute, "load", func() bool { return u.ok.Load() > 300 })
	}
	serverDo(t, s.Servers[0], "CLIENT", "PAUSE", "60000", "WRITE")
	replicated(t, s.Servers[0], s.Servers[1:]...)
	now, err := s.Failover()
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range users {
		before := u.ok.Load()
		untilWithin(t, time.Minute, u.key+": INCRs on the new master", func() bool { return u.ok.Load() > before+100 })
	}
	for _, stop := range stops {
		returns(t, stop)
	}
	for _, u := range users {
		u.check(t, counterOn(t, now, u.key), u.ok.Load())
		checkStats(t, u.ap, &u.tally)
		mustShare(t, u.ap)
		atRest(t, u.ap)
		t.Logf("%s: %v; %v", u.key, &u.tally, u.ap.Stats())
	}
}

func sentinelOptions(s *redistest.Sentinel) *redis.FailoverOptions {
	return &redis.FailoverOptions{MasterName: s.MasterName(), SentinelAddrs: s.Addrs(), DialerRetries: 1}
}

// TestTopology_FailoverClusterReads: a failover cluster client that routes reads reaches the replicas, in batches.
func TestTopology_FailoverClusterReads(t *testing.T) {
	s := redistest.RunSentinel(t, 2, 1)
	serverDo(t, s.Servers[0], "SET", "key", "value")
	replicated(t, s.Servers[0], s.Servers[1:]...)
	for _, way := range hookWays {
		t.Run(way, func(t *testing.T) {
			o := sentinelOptions(s)
			o.RouteRandomly = true
			rdb := redis.NewFailoverClusterClient(o)
			defer func() { _ = rdb.Close() }()
			ap := hookBy(way, rdb)
			for _, srv := range s.Servers {
				if err := srv.ResetStats(); err != nil {
					t.Fatal(err)
				}
			}
			const callers, each = 100, 30
			many(callers, func(int) {
				for range each {
					if v, err := rdb.Get(bg, "key").Result(); v != "value" || err != nil {
						t.Errorf("%q, %v", v, err)
					}
				}
			})
			var sum int64
			for i, srv := range s.Servers {
				n := serverCalls(t, srv, "get")
				if n == 0 {
					t.Errorf("server %d of %v saw no GET", i, s.Servers)
				}
				sum += n
			}
			if sum != callers*each || ap.Stats().Outcomes["ok"] != callers*each {
				t.Errorf("%d GETs reached the servers, want %d; %v", sum, callers*each, ap.Stats())
			}
			mustShare(t, ap)
		})
	}
}
