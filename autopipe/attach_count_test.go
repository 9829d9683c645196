package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestAttach_EndedContextsCountOnce: with a lane for each node, a command whose context ends is cancelled, once, wherever
// it was: in the queue, in flight, on its own connection, or in the cluster client's pause before another try.
func TestAttach_EndedContextsCountOnce(t *testing.T) {
	const n = 200
	run := func(t *testing.T, ap *autopipe.Hook, after func(), call func(ctx context.Context, i int) error) {
		t.Helper()
		before := ap.Stats()
		many(n, func(i int) {
			ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
			if i%2 == 0 {
				ctx, cancel = context.WithCancel(bg)
				time.AfterFunc(20*time.Millisecond, cancel)
			}
			defer cancel()
			if err := call(ctx, i); !errors.Is(err, ctx.Err()) || ctx.Err() == nil {
				t.Errorf("error %v, context's %v", err, ctx.Err())
			}
		})
		after()
		atRest(t, ap)
		s := ap.Stats()
		var all uint64
		for outcome, v := range s.Outcomes {
			all += v - before.Outcomes[outcome]
		}
		if all != n || s.Outcomes["cancelled"]-before.Outcomes["cancelled"] != n {
			t.Errorf("%d outcomes for %d commands, all of them cancelled: %v", all, n, s)
		}
	}
	paused := func(t *testing.T, servers ...*redistest.Server) (resume func()) {
		for _, s := range servers {
			if err := s.Freeze(); err != nil {
				t.Fatal(err)
			}
		}
		return func() {
			for _, s := range servers {
				if err := s.Thaw(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	a, b := redistest.Run(t), redistest.Run(t)
	ring := ringOf(t, nil, a, b)
	c := redistest.RunCluster(t, 3, 0)
	for name, rdb := range map[string]redis.UniversalClient{"ring": ring, "cluster": c.Client(t)} {
		ap := autopipe.Attach(rdb)
		many(50, func(i int) { rdb.Set(bg, fmt.Sprint("key", i), i, 0) }) // the nodes are known
		servers := c.Nodes
		if name == "ring" {
			servers = []*redistest.Server{a, b}
		}
		t.Run(name+", paused", func(t *testing.T) {
			run(t, ap, paused(t, servers...), func(ctx context.Context, i int) error { return rdb.Get(ctx, fmt.Sprint("key", i)).Err() })
		})
		t.Run(name+", direct", func(t *testing.T) { // go-redis looks at the context before it takes a connection
			run(t, ap, func() {}, func(ctx context.Context, i int) error {
				<-ctx.Done()
				return rdb.BLPop(ctx, time.Minute, fmt.Sprint("none", i)).Err()
			})
		})
	}
	t.Run("cluster, gone", func(t *testing.T) {
		rdb := c.Client(t, func(o *redis.ClusterOptions) { o.MinRetryBackoff, o.MaxRetryBackoff = time.Minute, time.Minute })
		ap := autopipe.Attach(rdb)
		many(50, func(i int) { rdb.Set(bg, fmt.Sprint("key", i), i, 0) })
		for _, s := range c.Nodes {
			if err := s.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		run(t, ap, func() {}, func(ctx context.Context, i int) error { return rdb.Get(ctx, fmt.Sprint("key", i)).Err() })
	})
}
