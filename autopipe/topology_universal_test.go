package autopipe_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestTopology_UniversalClients: Attach works on every kind of client that there is, however it was made; attaching
// again, from many goroutines at once too, gives the same hook and counts nothing twice.
func TestTopology_UniversalClients(t *testing.T) {
	single, shard := redistest.Run(t), redistest.Run(t)
	cluster, sentinel := redistest.RunCluster(t, 3, 0), redistest.RunSentinel(t, 1, 1)
	followed := redis.UniversalOptions{MasterName: sentinel.MasterName(), Addrs: sentinel.Addrs()}
	routed := followed
	routed.RouteRandomly = true
	for _, kind := range []struct {
		name, typ string
		make      func() redis.UniversalClient
	}{
		{"single", "*redis.Client", universal(redis.UniversalOptions{Addrs: []string{single.Addr()}})},
		{"cluster", "*redis.ClusterClient", universal(redis.UniversalOptions{Addrs: cluster.Addrs()})},
		{"cluster by one address", "*redis.ClusterClient", universal(redis.UniversalOptions{Addrs: cluster.Addrs()[:1], IsClusterMode: true})},
		{"sentinel", "*redis.Client", universal(followed)},
		{"sentinel, reads routed", "*redis.ClusterClient", universal(routed)},
		{"ring", "*redis.Ring", func() redis.UniversalClient { return ringOf(t, nil, single, shard) }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			rdb := kind.make()
			defer func() { _ = rdb.Close() }()
			if typ := fmt.Sprintf("%T", rdb); typ != kind.typ {
				t.Fatalf("a %s, want %s", typ, kind.typ)
			}
			hooks := make([]*autopipe.Hook, 20)
			many(len(hooks), func(i int) { hooks[i] = autopipe.Attach(rdb, autopipe.WithName(kind.name)) })
			for _, ap := range hooks {
				if ap != hooks[0] {
					t.Fatal("Attach made two hooks for one client")
				}
			}
			const callers, each = 100, 20
			many(callers, func(g int) {
				key := fmt.Sprint(kind.name, g)
				for range each {
					if err := rdb.Incr(bg, key).Err(); err != nil {
						t.Error(err)
					}
				}
				if autopipe.Attach(rdb) != hooks[0] {
					t.Error("Attach under load made another hook")
				}
			})
			s := hooks[0].Stats()
			if s.Pipe != kind.name || s.Commands-s.Retries["moved"] != callers*each || s.Outcomes["ok"] != callers*each {
				t.Errorf("%d commands, but %v", callers*each, s)
			}
			mustShare(t, hooks[0])
			for g := range callers {
				if n, err := rdb.Do(autopipe.Direct(bg), "incrby", fmt.Sprint(kind.name, g), 0).Int(); n != each || err != nil {
					t.Errorf("counter %d: %d, %v", g, n, err)
				}
			}
			atRest(t, hooks[0])
		})
	}
}

func universal(o redis.UniversalOptions) func() redis.UniversalClient {
	return func() redis.UniversalClient { return redis.NewUniversalClient(&o) }
}
