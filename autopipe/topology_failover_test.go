package autopipe_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestTopology_MasterKilled: a master of a cluster dies under load and its replica takes over. Every call returns; the
// counters of the other masters are exact, that of the dead one is within what the callers know.
//
// Redis itself may lose what a master has acknowledged and not yet replicated. So the lower bound is what had been
// acknowledged when the replica was seen to have it; with a master that stops writing before it dies (drained) this is all.
func TestTopology_MasterKilled(t *testing.T) {
	for _, way := range hookWays {
		for _, drained := range []bool{false, true} {
			name := way
			if drained {
				name += "/drained"
			}
			t.Run(name, func(t *testing.T) { masterKilled(t, way, drained) })
		}
	}
}

func masterKilled(t *testing.T, way string, drained bool) {
	c := redistest.RunCluster(t, 3, 1)
	rdb := c.Client(t, func(o *redis.ClusterOptions) {
		o.DialerRetries = 1
		// A refused dial does not make go-redis ask for the topology: without this even a plain client takes a minute.
		o.ClusterStateReloadInterval = 500 * time.Millisecond
	})
	ap := hookBy(way, rdb)
	var all []*tally
	byNode := map[*redistest.Server]*tally{}
	for node, key := range keyOn(t, c, c.Masters()) {
		byNode[node] = &tally{key: key}
		all = append(all, byNode[node])
	}
	stop := company(60, func(i int) {
		_ = all[i%len(all)].incr(rdb)
		time.Sleep(time.Millisecond) // the servers need the processors too, to vote
	})
	defer stop()
	for _, c := range all {
		until(t, "load", func() bool { return c.ok.Load() > 300 })
	}
	dead, heir := c.Nodes[0], c.Nodes[3]
	victim := byNode[dead]
	if drained {
		serverDo(t, dead, "CLIENT", "PAUSE", "60000", "WRITE")
	}
	safe := victim.ok.Load()
	replicated(t, dead, heir)
	if err := dead.Kill(); err != nil {
		t.Fatal(err)
	}
	untilWithin(t, time.Minute, "the replica takes over", func() bool {
		now, err := c.Owner(redistest.Slot(victim.key))
		return err == nil && now == heir
	})
	before := victim.ok.Load()
	untilWithin(t, time.Minute, "INCRs on the new master", func() bool { return victim.ok.Load() > before+200 })
	for _, c := range all {
		before := c.ok.Load()
		untilWithin(t, time.Minute, "INCRs on every master", func() bool { return c.ok.Load() > before+100 })
	}
	returns(t, stop)

	for node, c := range byNode {
		least, at := c.ok.Load(), node
		if c == victim {
			at = heir
			if !drained {
				least += safe - before
			}
		}
		c.check(t, counterOn(t, at, c.key), least)
		t.Logf("%s: %v", c.key, c)
	}
	checkStats(t, ap, all...)
	mustShare(t, ap)
	atRest(t, ap)
	t.Log(ap.Stats())
}
