package redistest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// AddMaster starts one more master, without slots, and returns it when all
// nodes know it. It is the last of Nodes and of [Cluster.Masters] from then on.
// Give it slots with [Cluster.MigrateSlot]. It must not run beside other
// methods of the Cluster that look at Nodes.
func (c *Cluster) AddMaster(opts ...Option) (*Server, error) {
	// Without this it becomes a replica when its last slot moves away.
	s, err := startClusterNode(append([]Option{Args("--cluster-allow-replica-migration", "no")}, opts...))
	if err != nil {
		return nil, err
	}
	if err := c.join(s); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (c *Cluster) join(s *Server) error {
	id, err := s.text("CLUSTER", "MYID")
	if err != nil {
		return err
	}
	if _, err := s.text("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(len(c.Nodes)+1)); err != nil {
		return err
	}
	for _, n := range c.Nodes {
		if _, err := s.text("CLUSTER", "MEET", loopback, strconv.Itoa(n.port)); err != nil {
			return err
		}
	}
	c.ids[s] = id
	c.Nodes = slices.Insert(c.Nodes, c.masters, s)
	c.masters++
	if err := c.WaitReady(); err != nil {
		c.leave(s)
		return err
	}
	return nil
}

// RemoveMaster makes the other nodes forget a master that serves no slot any
// more and has no replica, and closes it.
func (c *Cluster) RemoveMaster(s *Server) error {
	i := slices.Index(c.Nodes[:c.masters], s)
	if i < 0 {
		return errors.New("redistest: not a master of this cluster")
	}
	id := c.ids[s]
	c.leave(s)
	// First of all it must not gossip any more, or else it introduces itself
	// again.
	if err := s.Close(); err != nil {
		return err
	}
	for _, n := range c.Nodes {
		if _, err := n.text("CLUSTER", "FORGET", id); err != nil {
			return fmt.Errorf("redistest: forget %s: %w", s.Addr(), err)
		}
	}
	return c.WaitReady()
}

func (c *Cluster) leave(s *Server) {
	c.Nodes = slices.DeleteFunc(c.Nodes, func(n *Server) bool { return n == s })
	c.masters--
	delete(c.ids, s)
}
