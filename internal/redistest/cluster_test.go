package redistest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestSlot(t *testing.T) {
	for key, want := range map[string]int{
		"": 0, "foo": 12182, "123456789": 12739, "{foo}bar": 12182, "a{foo}{b}": 12182, "{}foo": 9500,
	} {
		equal(t, "slot of "+key, redistest.Slot(key), want)
	}
}

func TestCluster(t *testing.T) {
	t.Parallel()
	c, first := startOnFixedPorts(t)
	equal(t, "nodes", len(c.Nodes), 6)
	equal(t, "addresses", len(c.Addrs()), 6)
	for i, a := range c.Addrs() {
		equal(t, "address", a, fmt.Sprintf("127.0.0.1:%d", first+i))
	}
	equal(t, "masters", len(c.Masters()), 3)
	for i, n := range c.Nodes {
		info, err := n.Info("replication")
		noErr(t, err)
		want := "master"
		if i >= 3 {
			want = "slave"
		}
		equal(t, "role", info["role"], want)
	}
	slot := redistest.Slot("foo")
	from, err := c.Owner(slot)
	noErr(t, err)
	to := c.Nodes[0]
	equal(t, "owner of 12182", from, c.Nodes[2])

	rdb := c.Client(t)
	for _, k := range []string{"foo", "{foo}1", "{foo}2", "{foo}3"} {
		noErr(t, rdb.Set(bg, k, k, 0).Err())
	}

	// Half of the keys are gone: the old owner says ASK for those.
	noErr(t, c.BeginMigrate(slot, from, to))
	noErr(t, c.MoveKey("foo", from, to))
	n, err := c.MoveKeys(slot, from, to, 1)
	noErr(t, err)
	equal(t, "keys moved", n, 1)
	_, err = from.Do("GET", "foo")
	if e := redistest.ReplyError(""); !errors.As(err, &e) || !strings.HasPrefix(string(e), "ASK 12182 "+to.Addr()) {
		t.Errorf("GET on the old owner: %v", err)
	}
	for _, k := range []string{"foo", "{foo}1", "{foo}2", "{foo}3"} {
		v, err := rdb.Get(bg, k).Result()
		noErr(t, err)
		equal(t, k, v, k)
	}
	noErr(t, c.MigrateSlot(slot, from, to)) // goes on where it stands
	now, err := c.Owner(slot)
	noErr(t, err)
	equal(t, "new owner", now, to)
	_, err = from.Do("GET", "foo")
	if err == nil || !strings.HasPrefix(err.Error(), "MOVED 12182 "+to.Addr()) {
		t.Errorf("GET on the old owner: %v", err)
	}
	v, err := rdb.Get(bg, "{foo}3").Result()
	noErr(t, err)
	equal(t, "{foo}3", v, "{foo}3")

	// An opened slot that is closed again stays where it was.
	noErr(t, c.BeginMigrate(slot, to, from))
	noErr(t, c.CancelMigrate(slot, to, from))
	_, err = to.Do("GET", "none{foo}")
	noErr(t, err)

	// A node that comes back is still the same node.
	noErr(t, c.Nodes[5].Restart())
	noErr(t, c.WaitReady())
	info, err := c.Nodes[5].Info("replication")
	noErr(t, err)
	equal(t, "master of the last node", info["master_port"], fmt.Sprint(c.Nodes[2].Port()))
}

// startOnFixedPorts tries a few first ports, as another run of this test may
// be using some.
func startOnFixedPorts(t *testing.T) (*redistest.Cluster, int) {
	t.Helper()
	for range 10 {
		first := 14000 + 10*rand.IntN(200)
		c, err := redistest.StartCluster(3, 1, redistest.Port(first))
		if err != nil && strings.Contains(err.Error(), "already in use") {
			continue
		}
		noErr(t, err)
		t.Cleanup(func() { noErr(t, c.Close()) })
		return c, first
	}
	t.Fatal("no ports")
	return nil, 0
}

func TestClusterFailover(t *testing.T) {
	t.Parallel()
	c := redistest.RunCluster(t, 3, 1)
	slot := redistest.Slot("foo")
	old, err := c.Owner(slot)
	noErr(t, err)
	noErr(t, old.Kill())
	waitFor(t, 20*time.Second, func() bool {
		now, err := c.Owner(slot)
		return err == nil && now == c.Nodes[5]
	})
	waitFor(t, 20*time.Second, func() bool {
		_, err := c.Nodes[5].Do("SET", "foo", "v")
		return err == nil
	})
}

func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	s := redistest.RunSentinel(t, 2, 3)
	equal(t, "sentinels", len(s.Addrs()), 3)
	equal(t, "name", s.MasterName(), "mymaster")
	m, err := s.Master()
	noErr(t, err)
	equal(t, "master", m, s.Servers[0])
	rdb := s.Client(t, func(o *redis.FailoverOptions) { o.MaxRetries = 20 })
	noErr(t, rdb.Set(bg, "k", "v", 0).Err())
	noErr(t, rdb.Wait(bg, 2, time.Second).Err())

	now, err := s.Failover()
	noErr(t, err)
	if now == m {
		t.Fatal("the master did not change")
	}
	v, err := now.Do("GET", "k")
	noErr(t, err)
	equal(t, "k on the new master", v, any("v"))
	noErr(t, rdb.Set(bg, "k", "w", 0).Err())
	v, err = now.Do("GET", "k")
	noErr(t, err)
	equal(t, "k written after", v, any("w"))

	// The old master comes back as a replica; a sentinel remembers.
	noErr(t, m.Restart())
	noErr(t, s.Sentinels[0].Restart())
	noErr(t, s.WaitReady())
	again, err := s.Master()
	noErr(t, err)
	equal(t, "master at the end", again, now)
}
