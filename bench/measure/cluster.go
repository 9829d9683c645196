package measure

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/probe"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/target"
	"github.com/redis/go-redis/v9"
)

// Cluster is a Session on a Redis Cluster.
type Cluster struct {
	// Context that the callers hand to their client; nil is the background context.
	Context context.Context

	redis   *target.Cluster
	pool    int
	rdb     *redis.ClusterClient // our own, to fill
	masters []master
	clients map[string]rival.Client
	filled  map[int]bool
}

// master is one node.
type master struct {
	addr   string
	server *probe.Server
}

// OpenCluster opens a session on a cluster, whose slots must stay where they are. pool is
// the connections that each pooling client may open to each node.
func OpenCluster(ctx context.Context, c *target.Cluster, pool int) (*Cluster, error) {
	s := &Cluster{redis: c, pool: pool, clients: map[string]rival.Client{}, filled: map[int]bool{}}
	s.rdb = redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	var mu sync.Mutex
	err := s.rdb.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		addr := node.Options().Addr
		s.masters = append(s.masters, master{addr, probe.NewServer(addr)})
		return nil
	})
	if err != nil {
		s.rdb.Close()
		return nil, fmt.Errorf("masters of the cluster: %w", err)
	}
	return s, nil
}

// Masters of the cluster.
func (s *Cluster) Masters() int { return len(s.masters) }

// Close all clients. The cluster stays.
func (s *Cluster) Close() error {
	err := s.rdb.Close()
	for name, c := range s.clients {
		if e := c.Close(); err == nil && e != nil {
			err = fmt.Errorf("close %s: %w", name, e)
		}
	}
	clear(s.clients)
	for _, m := range s.masters {
		if e := m.server.Close(); err == nil {
			err = e
		}
	}
	return err
}

func (s *Cluster) client(v *rival.Variant) (rival.Client, error) {
	if c := s.clients[v.Name]; c != nil {
		return c, nil
	}
	c, err := v.Open(rival.Setup{Addrs: s.redis.Addrs(), Pool: s.pool})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", v.Name, err)
	}
	s.clients[v.Name] = c
	return c, nil
}

// Report of a variant's client about itself; nil if it has none.
func (s *Cluster) Report(v *rival.Variant) any {
	if r, ok := s.clients[v.Name].(rival.Reporter); ok {
		return r.Report()
	}
	return nil
}

// work for so many callers, with its keys filled.
func (s *Cluster) work(ctx context.Context, sc plan.Scenario, callers int) (*load.Work, error) {
	w := load.NewWork(sc.Mix, sc.Size, callers)
	if s.filled[sc.Size] {
		return w, nil
	}
	_, err := s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, k := range w.Keys {
			p.Set(ctx, k, w.Value, 0)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("fill the cluster: %w", err)
	}
	s.filled[sc.Size] = true
	return w, nil
}

// owner is the address of the node that serves a key.
func (s *Cluster) owner(ctx context.Context, key string) (string, error) {
	node, err := s.rdb.MasterForKey(ctx, key)
	if err != nil {
		return "", err
	}
	return node.Options().Addr, nil
}

// counters of all masters.
func (s *Cluster) counters(ctx context.Context) ([]probe.Counters, error) {
	all := make([]probe.Counters, len(s.masters))
	for i, m := range s.masters {
		var err error
		if all[i], err = m.server.Read(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Round measures a variant once. Server readings are sums over the masters.
func (s *Cluster) Round(ctx context.Context, v *rival.Variant, sc plan.Scenario, d time.Duration) (Round, error) {
	c, err := s.client(v)
	if err != nil {
		return Round{}, err
	}
	n := v.Callers(sc.Callers)
	work, err := s.work(ctx, sc, n)
	if err != nil {
		return Round{}, err
	}
	before, err := s.counters(ctx)
	if err != nil {
		return Round{}, err
	}
	var start, used probe.Process
	var busy time.Duration
	opt := load.Options{
		Callers: n, Duration: d, Context: s.Context,
		NewWorker: func(id int) load.Worker { return c.Worker(work, id) },
		Before: func() {
			runtime.GC()
			busy = probe.BusyTime()
			start = probe.ReadProcess()
		},
		After: func() {
			used = probe.ReadProcess().Sub(start)
			busy = probe.BusyTime() - busy
		},
	}
	if v.Windowed {
		opt.SampleEvery = 1
	}
	res := load.Run(ctx, opt)
	after, err := s.counters(ctx)
	if err != nil {
		return Round{}, err
	}
	if err := ctx.Err(); err != nil {
		return Round{}, err
	}
	var sum probe.Counters
	for i := range after {
		c := after[i].Sub(before[i])
		sum.Reads, sum.Calls, sum.CPU = sum.Reads+c.Reads, sum.Calls+c.Calls, sum.CPU+c.CPU
	}
	out := newRound(res, used, sum, work.Window, n)
	if s.redis.Own() {
		out.Others = others(busy-used.CPU-sum.CPU, res.Elapsed)
	}
	return out, nil
}
