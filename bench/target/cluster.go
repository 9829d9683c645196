package target

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// ClusterMasters is how many masters a cluster has that OpenCluster starts.
const ClusterMasters = 3

// ClusterEnv names the environment variable with the addresses of a running cluster,
// comma-separated. "make cluster" leaves one running.
const ClusterEnv = "REDIS_CLUSTER_ADDRS"

// Cluster is a Redis Cluster to measure against.
type Cluster struct {
	addrs []string
	own   *redistest.Cluster
}

// OpenCluster uses the cluster at the comma-separated addrs; without them the one that
// REDIS_CLUSTER_ADDRS names; and without that it starts one of three masters, empty and
// without persistence, that ends with Close.
func OpenCluster(addrs string) (*Cluster, error) {
	if addrs == "" {
		addrs = os.Getenv(ClusterEnv)
	}
	if addrs == "" {
		c, err := redistest.StartCluster(ClusterMasters, 0)
		if err != nil {
			return nil, fmt.Errorf("no cluster named (%s), and none started: %w", ClusterEnv, err)
		}
		return &Cluster{c.Addrs(), c}, nil
	}
	c := &Cluster{}
	for a := range strings.SplitSeq(addrs, ",") {
		a, err := HostPort(strings.TrimSpace(a))
		if err != nil {
			return nil, err
		}
		c.addrs = append(c.addrs, a)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.addrs, MaxRedirects: -1})
	defer rdb.Close()
	// Not a Ping: a server that is no cluster would answer that.
	if err := rdb.ForEachMaster(ctx, func(ctx context.Context, m *redis.Client) error { return m.Ping(ctx).Err() }); err != nil {
		return nil, fmt.Errorf("redis cluster at the given addresses: %w", err)
	}
	return c, nil
}

// Addrs of the cluster, some or all of its nodes.
func (c *Cluster) Addrs() []string { return c.addrs }

// Own reports whether OpenCluster started the cluster, so that nobody else uses it.
func (c *Cluster) Own() bool { return c.own != nil }

// Close ends the cluster if it is ours.
func (c *Cluster) Close() error {
	if c.own == nil {
		return nil
	}
	return c.own.Close()
}
