package autopipe_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestTopology_NodeComesAndGoes: a cluster grows by a master while callers wait, slots move to it under load and back
// again, it is taken away, and all the time the client reads the topology anew. No call fails, and every counter is exact.
func TestTopology_NodeComesAndGoes(t *testing.T) {
	for _, way := range hookWays {
		t.Run(way, func(t *testing.T) {
			const keys = 12
			c := redistest.RunCluster(t, 3, 0)
			rdb := c.Client(t)
			w := &nodeWatch{}
			ap := hookBy(way, rdb, autopipe.WithObserver(w))
			var all []*tally
			from := map[int]*redistest.Server{} // of each key's slot
			for i := range keys {
				k := &tally{key: fmt.Sprint("counter", i)}
				all = append(all, k)
				owner, err := c.Owner(redistest.Slot(k.key))
				if err != nil {
					t.Fatal(err)
				}
				from[redistest.Slot(k.key)] = owner
			}
			load := company(60, func(i int) {
				if err := all[i%keys].incr(rdb); err != nil {
					t.Errorf("INCR: %v", err)
				}
			})
			defer load()
			reload := company(1, func(int) { rdb.ReloadState(bg); time.Sleep(5 * time.Millisecond) })
			defer reload()

			fresh, err := c.AddMaster()
			if err != nil {
				t.Fatal(err)
			}
			for slot, owner := range from {
				if err := c.MigrateSlot(slot, owner, fresh); err != nil {
					t.Fatal(err)
				}
			}
			called := serverCalls(t, fresh, "incr")
			untilWithin(t, time.Minute, "load on the new node", func() bool { return serverCalls(t, fresh, "incr") > called+500 })
			for slot, owner := range from {
				if err := c.MigrateSlot(slot, fresh, owner); err != nil {
					t.Fatal(err)
				}
			}
			leaves(t, fresh)
			if err := c.RemoveMaster(fresh); err != nil {
				t.Fatal(err)
			}
			for _, k := range all {
				before := k.ok.Load()
				until(t, "load without the node", func() bool { return k.ok.Load() > before+50 })
			}
			reload()
			returns(t, load)

			for _, k := range all {
				owner, err := c.Owner(redistest.Slot(k.key))
				if err != nil {
					t.Fatal(err)
				}
				k.check(t, counterOn(t, owner, k.key), k.ok.Load())
				if k.uncertain.Load()+k.failed.Load() != 0 {
					t.Errorf("%s: %v", k.key, k)
				}
			}
			checkStats(t, ap, all...)
			mustShare(t, ap)
			if n := w.nodes(); way == "Attach" && n[fresh.Addr()] == 0 {
				t.Errorf("no lane for the new node: %v", n)
			}
			atRest(t, ap)
			t.Log(ap.Stats())
		})
	}
}

// leaves waits until no caller goes to a node any more: go-redis follows a slot that has moved away only as long as its old
// node is there to say so.
func leaves(t *testing.T, node *redistest.Server) {
	t.Helper()
	quiet, last := 0, int64(-1)
	untilWithin(t, time.Minute, "the callers leave the node", func() bool {
		info, err := node.Info("stats")
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		_, _ = fmt.Sscan(info["total_error_replies"], &n) // MOVED is one
		if quiet++; n != last {
			quiet, last = 0, n
		}
		time.Sleep(20 * time.Millisecond)
		return quiet == 25
	})
}

// TestTopology_ReloadWhileWaiting: callers wait for a server that does not answer while the topology is read anew and
// their slot's owner has changed meanwhile. All get their own reply.
func TestTopology_ReloadWhileWaiting(t *testing.T) {
	for _, way := range hookWays {
		t.Run(way, func(t *testing.T) {
			c := redistest.RunCluster(t, 3, 0)
			rdb := c.Client(t)
			ap := hookBy(way, rdb)
			const key, callers = "{waiting}n", 300
			slot := redistest.Slot(key)
			from, err := c.Owner(slot)
			if err != nil {
				t.Fatal(err)
			}
			to := c.Masters()[0]
			if to == from {
				to = c.Masters()[1]
			}
			if err := rdb.Set(bg, key, 0, 0).Err(); err != nil {
				t.Fatal(err)
			}
			if err := c.MigrateSlot(slot, from, to); err != nil { // the client does not know yet
				t.Fatal(err)
			}
			if err := from.Freeze(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = from.Thaw() }()
			count := &tally{key: key}
			var begun atomic.Int64
			waiting := company(callers, func(int) {
				begun.Add(1)
				if err := count.incr(rdb); err != nil {
					t.Errorf("INCR: %v", err)
				}
			})
			defer waiting()
			until(t, "callers wait", func() bool { return begun.Load() == callers })
			for range 20 {
				rdb.ReloadState(bg)
				time.Sleep(5 * time.Millisecond)
			}
			if s := ap.Stats(); s.Queued+s.InFlight == 0 {
				t.Errorf("nobody waits for the frozen server: %v", s)
			}
			if err := from.Thaw(); err != nil {
				t.Fatal(err)
			}
			until(t, "they go on", func() bool { return count.ok.Load() > 3*callers })
			returns(t, waiting)
			count.check(t, counterOn(t, to, key), count.ok.Load())
			s := ap.Stats()
			if s.Outcomes["ok"] != uint64(count.ok.Load()+1) { // and one SET
				t.Errorf("%v, but %v", count, s)
			}
			if way == "Attach" && s.Retries["moved"] == 0 {
				t.Errorf("nothing was redirected: %v", s)
			}
			mustShare(t, ap)
		})
	}
}
