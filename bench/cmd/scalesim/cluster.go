package main

import (
	"context"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// cluster is a client of a Redis Cluster of any number of nodes, which are all the same server: the nodes differ in name
// only, and the dialer takes each name to one address. To go-redis and to autopipe they are nodes like any other, with
// their own clients, pools and lanes.
type cluster struct {
	*redis.ClusterClient
	keys []string // one for each node
}

const slots = 16384

func newCluster(nodes int, addr string, change ...func(*redis.ClusterOptions)) *cluster {
	table := make([]redis.ClusterSlot, nodes)
	for i := range table {
		table[i] = redis.ClusterSlot{
			Start: i * slots / nodes, End: (i+1)*slots/nodes - 1,
			Nodes: []redis.ClusterNode{{ID: fmt.Sprint(i), Addr: fmt.Sprintf("node-%04d:6379", i)}},
		}
	}
	var dialer net.Dialer
	o := &redis.ClusterOptions{
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) { return table, nil },
		Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, addr)
		},
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	for _, f := range change {
		f(o)
	}
	return &cluster{redis.NewClusterClient(o), keysFor(nodes)}
}

// keysFor finds a key for each of the nodes that share the slots evenly.
func keysFor(nodes int) []string {
	keys := make([]string, nodes)
	for i, left := 0, nodes; left > 0; i++ {
		key := fmt.Sprintf("scale:%d", i)
		slot := redistest.Slot(key)
		n := slot * nodes / slots
		for (n+1)*slots/nodes <= slot { // the ranges are rounded
			n++
		}
		if keys[n] == "" {
			keys[n] = key
			left--
		}
	}
	return keys
}

// visit sends one GET to each node.
func (c *cluster) visit(ctx context.Context) error {
	for _, key := range c.keys {
		if err := c.Get(ctx, key).Err(); err != nil && err != redis.Nil {
			return err
		}
	}
	return nil
}
