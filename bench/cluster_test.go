package bench

import (
	"os"
	"strings"
	"testing"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// The same drivers on a cluster of three masters: batches are split by node.
// REDIS_CLUSTER_ADDRS (comma-separated) names one that runs; otherwise one is
// started, and where that fails the benchmark is skipped.
func BenchmarkClusterAutoPipelineThroughput(b *testing.B) {
	addrs := clusterAddrs(b)
	open := func(b *testing.B) *redis.ClusterClient {
		c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, PoolSize: pool, PipelinePoolSize: pool})
		b.Cleanup(func() { c.Close() })
		return c
	}
	run := func(b *testing.B, c rival.Client) {
		throughput(b, c, load.NewWork(load.Set, 16, manyCallers), manyCallers)
	}
	b.Run("Normal", func(b *testing.B) { run(b, rival.Single(open(b))) })
	b.Run("Blocking/autopipe", func(b *testing.B) {
		c := open(b)
		c.AddHook(autopipe.New())
		run(b, rival.Single(c))
	})
	b.Run("Blocking/go-redis", func(b *testing.B) {
		ap, err := open(b).AutoPipelineWithOptions(&redis.AutoPipelineOptions{
			MaxBatchSize: 300, MaxConcurrentBatches: 80, Unordered: true,
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { ap.Close() })
		run(b, rival.Single(ap))
	})
	b.Run("Windowed/autopipe", func(b *testing.B) {
		c := open(b)
		c.AddHook(autopipe.New(autopipe.WithBlockOnFull()))
		run(b, rival.Windowed(c))
	})
	b.Run("Windowed/go-redis", func(b *testing.B) {
		ap, err := open(b).AsyncAutoPipeline()
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { ap.Close() })
		run(b, rival.Deferred(ap))
	})
}

func clusterAddrs(b *testing.B) []string {
	b.Helper()
	if list := os.Getenv("REDIS_CLUSTER_ADDRS"); list != "" {
		return strings.Split(list, ",")
	}
	c, err := redistest.StartCluster(3, 0)
	if err != nil {
		b.Skipf("no cluster named (REDIS_CLUSTER_ADDRS), and none started: %v", err)
	}
	b.Cleanup(func() { c.Close() })
	return c.Addrs()
}
