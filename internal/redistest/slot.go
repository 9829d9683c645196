package redistest

import (
	"fmt"
	"strconv"
	"strings"
)

// Slot returns the hash slot of a key, its {tag} regarded.
func Slot(key string) int {
	if i := strings.IndexByte(key, '{'); i >= 0 {
		if n := strings.IndexByte(key[i+1:], '}'); n > 0 {
			key = key[i+1 : i+1+n]
		}
	}
	var crc uint16 // CRC-16/XMODEM
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc % slotCount)
}

// Owner returns the node that serves a slot now, as the first node that runs
// sees it.
func (c *Cluster) Owner(slot int) (*Server, error) {
	var err error
	for _, n := range c.Nodes {
		var text string
		if text, err = n.text("CLUSTER", "NODES"); err != nil {
			continue
		}
		for line := range strings.Lines(text) {
			f := strings.Fields(line)
			for _, r := range f[min(8, len(f)):] {
				if inRange(slot, r) {
					return c.byID(f[0])
				}
			}
		}
		return nil, fmt.Errorf("redistest: nobody serves slot %d", slot)
	}
	return nil, err
}

func inRange(slot int, r string) bool {
	lo, hi, two := strings.Cut(r, "-")
	if !two {
		hi = lo
	}
	a, err1 := strconv.Atoi(lo)
	b, err2 := strconv.Atoi(hi)
	return err1 == nil && err2 == nil && a <= slot && slot <= b
}

func (c *Cluster) byID(id string) (*Server, error) {
	for s, sid := range c.ids {
		if sid == id {
			return s, nil
		}
	}
	return nil, fmt.Errorf("redistest: no node %s", id)
}

// MigrateSlot moves a slot with all its keys from one master to another, while
// clients go on.
func (c *Cluster) MigrateSlot(slot int, from, to *Server) error {
	if err := c.BeginMigrate(slot, from, to); err != nil {
		return err
	}
	for {
		n, err := c.MoveKeys(slot, from, to, 100)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	return c.FinishMigrate(slot, from, to)
}

// BeginMigrate opens a slot on both sides. From now on the old owner answers
// ASK for keys that it does not hold, and TRYAGAIN for commands with several
// keys of which some are gone.
func (c *Cluster) BeginMigrate(slot int, from, to *Server) error {
	if err := setSlot(to, slot, "IMPORTING", c.ids[from]); err != nil {
		return err
	}
	return setSlot(from, slot, "MIGRATING", c.ids[to])
}

// MoveKeys moves up to max keys of an open slot and returns how many it moved.
func (c *Cluster) MoveKeys(slot int, from, to *Server, max int) (int, error) {
	v, err := from.Do("CLUSTER", "GETKEYSINSLOT", strconv.Itoa(slot), strconv.Itoa(max))
	if err != nil {
		return 0, fmt.Errorf("redistest: keys of slot %d: %w", slot, err)
	}
	keys, _ := v.([]any)
	if len(keys) == 0 {
		return 0, nil
	}
	args := []string{"MIGRATE", loopback, strconv.Itoa(to.port), "", "0", "5000", "KEYS"}
	for _, k := range keys {
		args = append(args, fmt.Sprint(k))
	}
	if _, err := from.text(args...); err != nil {
		return 0, err
	}
	return len(keys), nil
}

// MoveKey moves one key of an open slot.
func (c *Cluster) MoveKey(key string, from, to *Server) error {
	_, err := from.text("MIGRATE", loopback, strconv.Itoa(to.port), key, "0", "5000")
	return err
}

// FinishMigrate gives the slot to its new owner. No key may be left behind:
// see [Cluster.MoveKeys].
func (c *Cluster) FinishMigrate(slot int, from, to *Server) error {
	// The new owner first, or else the old one sends clients to a node that
	// sends them back.
	order := []*Server{to, from}
	for _, n := range c.Nodes[:c.masters] {
		if n != to && n != from {
			order = append(order, n)
		}
	}
	for _, n := range order {
		if err := setSlot(n, slot, "NODE", c.ids[to]); err != nil {
			return err
		}
	}
	return nil
}

// CancelMigrate closes an open slot again; it stays with its owner. Keys that
// have moved stay where they are.
func (c *Cluster) CancelMigrate(slot int, from, to *Server) error {
	for _, n := range []*Server{from, to} {
		if err := setSlot(n, slot, "STABLE"); err != nil {
			return err
		}
	}
	return nil
}

func setSlot(n *Server, slot int, args ...string) error {
	_, err := n.text(append([]string{"CLUSTER", "SETSLOT", strconv.Itoa(slot)}, args...)...)
	return err
}
