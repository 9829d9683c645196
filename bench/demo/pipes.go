package demo

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/bench/netdelay"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// pipe is one client with its hook.
type pipe struct {
	name  string
	rdb   redis.UniversalClient
	hook  *autopipe.Hook
	share float64 // of the callers and of the rate
	value string  // that it writes
}

// nodeNames are the addresses of the nodes of "sessions". Nobody resolves them: the client's dialer knows where the
// nodes are, and telemetry shows the same names in every run.
var nodeNames = [2]string{"sessions-a:6379", "sessions-b:6379"}

// linkDelay is how far away the Redis of "remote" is.
const linkDelay = time.Millisecond

// open makes the proxies and the clients.
func (d *Demo) open() error {
	target := func(i int) string { return d.cfg.Redis[i%len(d.cfg.Redis)] }
	var err error
	if d.orders, err = redistest.NewProxy(target(0)); err != nil {
		return err
	}
	d.onClose(d.orders.Close)
	for i := range d.nodes {
		if d.nodes[i], err = redistest.NewProxy(target(i)); err != nil {
			return err
		}
		d.onClose(d.nodes[i].Close)
	}
	link, err := netdelay.Listen("127.0.0.1:0", target(0), linkDelay)
	if err != nil {
		return err
	}
	d.onClose(link.Close)

	d.client("orders", 0.45, 100, options(d.orders.Addr()), autopipe.WithMaxBatch(48))
	d.cluster("sessions", 0.2, 200)
	d.client("catalog", 0.2, 700, options(target(0)),
		autopipe.WithLinger(500*time.Microsecond), autopipe.WithMaxBatchBytes(8<<10), autopipe.WithMergePipelines())
	d.client("remote", 0.15, 50, options(link.Addr()))

	caching := options(target(0))
	caching.Protocol, caching.ClientSideCacheConfig = 3, &redis.ClientSideCacheConfig{MaxEntries: 1000}
	d.cache = d.client("cache", 0, 50, caching)

	small := options(target(0))
	small.PoolSize, small.PipelinePoolSize, small.PoolTimeout, small.MaxRetries = 1, 1, 10*time.Millisecond, -1
	d.intake = d.client("intake", 0, 50, small, autopipe.WithMaxQueue(16), autopipe.WithMaxInFlight(1), autopipe.WithMaxBatch(8))

	// A client without a hook, for the one that is called outside its chain.
	d.bare = redis.NewClient(options(target(0)))
	d.onClose(d.bare.Close)
	return nil
}

// options that all clients have: failures shall show soon, and not be hidden by go-redis's own patience.
func options(addr string) *redis.Options {
	return &redis.Options{
		Addr: addr, DialTimeout: time.Second, DialerRetries: 1,
		// A demo of failures would fill the log with them.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// client makes a pipe of a single client.
func (d *Demo) client(name string, share float64, size int, o *redis.Options, opts ...autopipe.Option) *pipe {
	rdb := redis.NewClient(o)
	return d.pipe(name, share, size, rdb, d.cfg.Redis[0], rdb.PoolStats, opts)
}

// cluster makes a pipe of a cluster client whose two nodes are what we say they are.
func (d *Demo) cluster(name string, share float64, size int) {
	rdb := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: nodeNames[:],
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			return []redis.ClusterSlot{
				{Start: 0, End: 8191, Nodes: []redis.ClusterNode{{Addr: nodeNames[0]}}},
				{Start: 8192, End: 16383, Nodes: []redis.ClusterNode{{Addr: nodeNames[1]}}},
			}, nil
		},
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			for i, n := range nodeNames {
				if n == addr {
					return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, d.nodes[i].Addr())
				}
			}
			return nil, fmt.Errorf("demo: no node %s", addr)
		},
		DialerRetries:            1,
		MaintNotificationsConfig: options("").MaintNotificationsConfig,
	})
	d.pipe(name, share, size, rdb, "", rdb.PoolStats, nil)
}

// pipe attaches a hook to a client. Server is the Redis behind the proxies, "" where the lanes know their node.
func (d *Demo) pipe(name string, share float64, size int, rdb redis.UniversalClient, server string, stats func() *redis.PoolStats, opts []autopipe.Option) *pipe {
	d.onClose(rdb.Close)
	opts = append(opts, autopipe.WithName(name), autopipe.WithObserver(d.tele.observers(server, stats)...))
	p := &pipe{name: name, rdb: rdb, share: share, value: text(size), hook: autopipe.Attach(rdb, opts...)}
	d.pipes = append(d.pipes, p)
	return p
}

func text(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return string(b)
}
