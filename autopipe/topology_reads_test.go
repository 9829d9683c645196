package autopipe_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// routings are go-redis's ways to read from replicas, and what must be seen of them.
var routings = []struct {
	name              string
	tune              func(*redis.ClusterOptions)
	masters, replicas bool // which must get reads; both false: either may
}{
	{"ReadOnly", func(o *redis.ClusterOptions) { o.ReadOnly = true }, false, true},
	{"RouteRandomly", func(o *redis.ClusterOptions) { o.RouteRandomly = true }, true, true},
	{"RouteByLatency", func(o *redis.ClusterOptions) { o.RouteByLatency = true }, false, false},
}

// TestTopology_ReadsFromReplicas: clients that read from replicas still do, in batches, each read with its own value and
// sent once; writes beside them reach the masters. With Attach, telemetry names the node that answered.
func TestTopology_ReadsFromReplicas(t *testing.T) {
	const keys, callers, each = 300, 100, 20
	c := redistest.RunCluster(t, 3, 1)
	plain := c.Client(t)
	for i := range keys {
		if err := plain.Set(bg, fmt.Sprint("key", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for i, m := range c.Masters() {
		replicated(t, m, c.Nodes[3+i])
	}
	replicasListed(t, c)
	for _, r := range routings {
		for _, way := range hookWays {
			t.Run(r.name+"/"+way, func(t *testing.T) {
				rdb := c.Client(t, r.tune)
				w := &nodeWatch{}
				ap := hookBy(way, rdb, autopipe.WithObserver(w))
				gets := nodeCalls(t, c, "get")
				many(callers, func(g int) {
					for i := range each {
						k := (g*each + i) % keys
						if n, err := rdb.Get(bg, fmt.Sprint("key", k)).Int(); n != k || err != nil {
							t.Errorf("key%d: %d, %v", k, n, err)
						}
					}
				})
				mustShare(t, ap)
				var masters, replicas, batched int64
				batches := w.nodes()
				for i, n := range nodeCalls(t, c, "get") {
					n -= gets[i]
					if i < 3 {
						masters += n
					} else {
						replicas += n
					}
					if addr := c.Nodes[i].Addr(); way == "Attach" && batches[addr] != n {
						t.Errorf("%s answered %d GETs, telemetry says %d", addr, n, batches[addr])
					}
				}
				for _, n := range batches {
					batched += n
				}
				if masters+replicas != callers*each || batched != callers*each {
					t.Errorf("%d GETs on masters and %d on replicas, %d in batches; want %d", masters, replicas, batched, callers*each)
				}
				if r.masters && masters == 0 || r.replicas && replicas == 0 {
					t.Errorf("%d GETs on masters, %d on replicas", masters, replicas)
				}
				if r.name == "ReadOnly" && masters != 0 {
					t.Errorf("%d GETs on masters, want all on replicas", masters)
				}

				counter, gets := tally{key: "counter " + t.Name()}, nodeCalls(t, c, "get")
				many(callers, func(g int) {
					if n, err := rdb.Get(bg, fmt.Sprint("key", g)).Int(); n != g || err != nil {
						t.Errorf("key%d: %d, %v", g, n, err)
					}
					if err := counter.incr(rdb); err != nil {
						t.Error(err)
					}
				})
				// With AddHook go-redis sends a batch that writes to the masters as a whole, as it does any pipeline.
				for i, n := range nodeCalls(t, c, "get")[:3] {
					if r.name == "ReadOnly" && way == "Attach" && n != gets[i] {
						t.Errorf("beside writes %d reads went to the master %s", n-gets[i], c.Nodes[i].Addr())
					}
				}
				owner, err := c.Owner(redistest.Slot(counter.key))
				if err != nil {
					t.Fatal(err)
				}
				counter.check(t, counterOn(t, owner, counter.key), callers)
			})
		}
	}
}

// nodeCalls is how often each node of the cluster ran a command.
func nodeCalls(t *testing.T, c *redistest.Cluster, name string) []int64 {
	t.Helper()
	calls := make([]int64, len(c.Nodes))
	for i, n := range c.Nodes {
		calls[i] = serverCalls(t, n, name)
	}
	return calls
}

// replicasListed waits until every node names every replica in CLUSTER SLOTS. A node leaves out those of which it has not
// yet heard that they have any data.
func replicasListed(t *testing.T, c *redistest.Cluster) {
	t.Helper()
	for _, n := range c.Nodes {
		untilWithin(t, time.Minute, "the replicas are known", func() bool {
			ranges, _ := serverDo(t, n, "CLUSTER", "SLOTS").([]any)
			nodes := 0
			for _, r := range ranges {
				nodes += len(r.([]any)) - 2 // first slot, last slot, nodes
			}
			return nodes == len(c.Nodes)
		})
	}
}
