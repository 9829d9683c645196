package bench

import (
	"sync"
	"testing"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/target"
	"github.com/redis/go-redis/v9"
)

// cluster for all cluster benchmarks, opened at the first need: the one that
// REDIS_CLUSTER_ADDRS names ("make cluster" leaves one running), else three masters of our
// own.
var cluster = sync.OnceValues(func() (*target.Cluster, error) { return target.OpenCluster("") })

func clusterClient(b *testing.B) *redis.ClusterClient {
	b.Helper()
	clusterOpened = true
	c, err := cluster()
	if err != nil {
		b.Fatal(err)
	}
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), PoolSize: pool, PipelinePoolSize: pool})
	b.Cleanup(func() { rdb.Close() })
	return rdb
}

var clusterOpened bool

// The same drivers on a cluster: AddHook has one lane, whose batches go-redis splits by node;
// Attach has one for every node.
func BenchmarkClusterAutoPipelineThroughput(b *testing.B) {
	run := func(b *testing.B, c rival.Client) {
		throughput(b, c, load.NewWork(load.Set, 16, manyCallers), manyCallers)
	}
	b.Run("Normal", func(b *testing.B) { run(b, rival.Single(clusterClient(b))) })
	b.Run("Blocking/autopipe-AddHook", func(b *testing.B) {
		c := clusterClient(b)
		c.AddHook(autopipe.New())
		run(b, rival.Single(c))
	})
	b.Run("Blocking/autopipe-Attach", func(b *testing.B) {
		c := clusterClient(b)
		autopipe.Attach(c)
		run(b, rival.Single(c))
	})
	b.Run("Blocking/go-redis", func(b *testing.B) {
		ap, err := clusterClient(b).AutoPipelineWithOptions(&redis.AutoPipelineOptions{
			MaxBatchSize: 300, MaxConcurrentBatches: 80, Unordered: true,
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { ap.Close() })
		run(b, rival.Single(ap))
	})
	b.Run("Windowed/autopipe-AddHook", func(b *testing.B) {
		c := clusterClient(b)
		c.AddHook(autopipe.New(autopipe.WithBlockOnFull()))
		run(b, rival.Windowed(c))
	})
	b.Run("Windowed/autopipe-Attach", func(b *testing.B) {
		c := clusterClient(b)
		autopipe.Attach(c, autopipe.WithBlockOnFull())
		run(b, rival.Windowed(c))
	})
	b.Run("Windowed/go-redis", func(b *testing.B) {
		ap, err := clusterClient(b).AsyncAutoPipeline()
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { ap.Close() })
		run(b, rival.Deferred(ap))
	})
}
