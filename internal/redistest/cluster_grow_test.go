package redistest_test

import (
	"testing"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestClusterGrowsAndShrinks(t *testing.T) {
	t.Parallel()
	c := redistest.RunCluster(t, 2, 1)
	rdb := c.Client(t)
	noErr(t, rdb.Set(bg, "foo", "v", 0).Err())
	slot := redistest.Slot("foo")
	from, err := c.Owner(slot)
	noErr(t, err)

	fresh, err := c.AddMaster()
	noErr(t, err)
	equal(t, "nodes", len(c.Nodes), 5)
	equal(t, "masters", len(c.Masters()), 3)
	equal(t, "the last master", c.Masters()[2], fresh)
	noErr(t, c.MigrateSlot(slot, from, fresh))
	now, err := c.Owner(slot)
	noErr(t, err)
	equal(t, "owner", now, fresh)
	v, err := rdb.Get(bg, "foo").Result()
	noErr(t, err)
	equal(t, "foo", v, "v")

	noErr(t, c.MigrateSlot(slot, fresh, from))
	noErr(t, rdb.Get(bg, "foo").Err()) // go-redis learns that the slot has moved only while the node can say so
	noErr(t, c.RemoveMaster(fresh))
	equal(t, "nodes", len(c.Nodes), 4)
	equal(t, "masters", len(c.Masters()), 2)
	v, err = rdb.Get(bg, "foo").Result()
	noErr(t, err)
	equal(t, "foo", v, "v")
	if err := c.RemoveMaster(fresh); err == nil {
		t.Error("a node was removed twice")
	}
}
