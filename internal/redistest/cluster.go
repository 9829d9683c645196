package redistest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	slotCount      = 16384
	clusterTimeout = 40 * time.Second
)

// Cluster is a Redis Cluster of real servers.
type Cluster struct {
	// Nodes holds the masters first, by their slots, then the replicas: replica
	// i belongs to master i % masters. A failover changes the roles, not this.
	Nodes []*Server

	masters int
	ids     map[*Server]string
}

// StartCluster starts a cluster with the slots spread evenly over the masters,
// and returns when all nodes agree on it and the replicas have synced. A node
// that does not answer for 2 seconds counts as failed; change that with
// Args("--cluster-node-timeout", ...). The caller must Close it.
func StartCluster(masters, replicasPerMaster int, opts ...Option) (*Cluster, error) {
	if masters < 1 || replicasPerMaster < 0 {
		return nil, errors.New("redistest: a cluster needs a master")
	}
	first := newConfig(opts).port
	nodes, err := startAll(masters*(1+replicasPerMaster), func(i int) (*Server, error) {
		if first != 0 {
			return startClusterNode(append(slices.Clone(opts), Port(first+i)))
		}
		return startClusterNode(opts)
	})
	if err != nil {
		return nil, err
	}
	c := &Cluster{Nodes: nodes, masters: masters, ids: map[*Server]string{}}
	if err := c.form(); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func startClusterNode(opts []Option) (*Server, error) {
	return Start(append([]Option{Args("--cluster-enabled", "yes", "--cluster-node-timeout", "2000")}, opts...)...)
}

// RunCluster is [StartCluster] for one test: it fails the test on an error and
// closes the cluster with the test.
func RunCluster(tb TB, masters, replicasPerMaster int, opts ...Option) *Cluster {
	tb.Helper()
	c, err := StartCluster(masters, replicasPerMaster, opts...)
	return must(tb, c, err)
}

// form makes a cluster of the single nodes.
func (c *Cluster) form() error {
	for i, n := range c.Nodes {
		id, err := n.text("CLUSTER", "MYID")
		if err != nil {
			return err
		}
		c.ids[n] = id
		// Without epochs of their own the nodes take seconds to settle them.
		if _, err := n.text("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1)); err != nil {
			return err
		}
	}
	for i, n := range c.Nodes[:c.masters] {
		lo, hi := i*slotCount/c.masters, (i+1)*slotCount/c.masters-1
		if _, err := n.text("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(lo), strconv.Itoa(hi)); err != nil {
			return err
		}
	}
	// One introduction would do, gossip brings the rest; all of them are faster.
	for i, n := range c.Nodes {
		for _, other := range c.Nodes[:i] {
			if _, err := n.text("CLUSTER", "MEET", loopback, strconv.Itoa(other.port)); err != nil {
				return err
			}
		}
	}
	for i, n := range c.Nodes[c.masters:] {
		master := c.ids[c.Nodes[i%c.masters]]
		// The node must have heard of its master first.
		err := await(clusterTimeout, "cluster replicate", func() error {
			_, err := n.text("CLUSTER", "REPLICATE", master)
			return err
		})
		if err != nil {
			return err
		}
	}
	return c.WaitReady()
}

// WaitReady waits until all nodes see a whole cluster, agree on it, and all
// replicas are in sync. Use it after a Restart.
func (c *Cluster) WaitReady() error {
	return await(clusterTimeout, "cluster ready", c.check)
}

func (c *Cluster) check() error {
	var view string
	for _, n := range c.Nodes {
		text, err := n.text("CLUSTER", "INFO")
		if err != nil {
			return err
		}
		info := parseInfo(text)
		if info["cluster_state"] != "ok" || info["cluster_slots_ok"] != strconv.Itoa(slotCount) {
			return fmt.Errorf("state %s on %s", info["cluster_state"], n.Addr())
		}
		v, err := c.view(n)
		if err != nil {
			return err
		}
		if view == "" {
			view = v
		}
		if v != view {
			return fmt.Errorf("nodes disagree:\n%s\n%s", view, v)
		}
		repl, err := n.Info("replication")
		if err != nil {
			return err
		}
		if repl["role"] == "slave" && repl["master_link_status"] != "up" {
			return fmt.Errorf("replica %s is not in sync", n.Addr())
		}
	}
	return nil
}

// view returns what a node knows about all nodes, in a form that is the same on
// all nodes that agree.
func (c *Cluster) view(n *Server) (string, error) {
	text, err := n.text("CLUSTER", "NODES")
	if err != nil {
		return "", err
	}
	var list []string
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 {
			continue
		}
		flags := strings.TrimPrefix(f[2], "myself,")
		if flags != "master" && flags != "slave" || f[7] != "connected" {
			return "", fmt.Errorf("%s sees %s as %s, %s", n.Addr(), f[1], f[2], f[7])
		}
		slots := slices.DeleteFunc(slices.Clone(f[8:]), func(s string) bool {
			return strings.HasPrefix(s, "[") // a slot on its way: known to two nodes only
		})
		list = append(list, fmt.Sprint(f[0], flags, f[3], slots))
	}
	if len(list) != len(c.Nodes) {
		return "", fmt.Errorf("%s knows %d of %d nodes", n.Addr(), len(list), len(c.Nodes))
	}
	slices.Sort(list)
	return strings.Join(list, "\n"), nil
}

// Addrs returns the addresses of all nodes.
func (c *Cluster) Addrs() []string { return addrs(c.Nodes) }

// Masters returns the nodes that started as masters.
func (c *Cluster) Masters() []*Server { return slices.Clone(c.Nodes[:c.masters]) }

// Client returns a go-redis client of the cluster, closed at the end of the
// test. The options are go-redis's defaults but for maintenance notifications,
// which are off; opts change them.
func (c *Cluster) Client(tb TB, opts ...func(*redis.ClusterOptions)) *redis.ClusterClient {
	tb.Helper()
	o := &redis.ClusterOptions{Addrs: c.Addrs(), MaintNotificationsConfig: noMaintNotifications()}
	for _, f := range opts {
		f(o)
	}
	client := redis.NewClusterClient(o)
	closeAfter(tb, client)
	return client
}

// Close ends all nodes. It may be called more than once.
func (c *Cluster) Close() error { return closeAll(c.Nodes) }
