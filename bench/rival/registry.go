// Package rival holds the clients that are compared. Each is an entry of one
// registry, so adding one is a few lines: see the file of any of them.
package rival

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

// Setup is what every client gets alike.
type Setup struct {
	Addr string
	// Addrs of a cluster's nodes, for the variants of Clusters.
	Addrs []string
	// Pool is the number of connections that a pooling client may open: regular and
	// pipeline pool each; of a cluster's client, to each node.
	Pool int
}

// timeout of reads, writes and of waiting for a connection: far beyond what any run
// takes, so that an overloaded client shows as slow and not as failing.
const timeout = 60 * time.Second

// Client is a client under test.
type Client interface {
	// Worker for caller id of a run.
	Worker(w *load.Work, id int) load.Worker
	Close() error
}

// Reporter is a Client that can tell about its batches; the answer is stored with
// the results as it is.
type Reporter interface {
	Report() any
}

// Variant is a way to use a client.
type Variant struct {
	// Name in flags and results; no blanks, no slashes.
	Name string
	// Title in tables.
	Title string
	// Ours marks the variants of this project.
	Ours bool
	// Windowed faces send a window of commands before they read the first reply: more
	// work for the caller, deeper pipelines. Their latency is that of a whole window,
	// and they cannot serve requests that arrive one by one.
	Windowed bool
	// MaxCallers limits the callers; zero is no limit. For variants that nobody would
	// run with thousands.
	MaxCallers int
	// Missing says why the variant cannot run yet. Empty if it can.
	Missing string
	// Open makes the client. It is set up once and used for all rounds.
	Open func(Setup) (Client, error)
}

// Callers that this variant uses where n are asked for.
func (v *Variant) Callers(n int) int {
	if v.MaxCallers > 0 {
		return min(n, v.MaxCallers)
	}
	return n
}

var registry []*Variant

// register at init. The order of files and of calls does not matter: see order.
func register(v Variant) {
	if find(v.Name) != nil {
		panic("rival: two variants are named " + v.Name)
	}
	registry = append(registry, &v)
}

// order of the tables: the baseline, what others offer, ours.
var order = []string{
	"plain", "pipeline", "goredis", "goredis-parallel", "goredis-fullduplex", "goredis-async",
	"rueidis", "autopipe", "autopipe-observed", "autopipe-instruments", "autopipe-window",
}

func rank(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// All variants, the missing ones included, in the order of the tables.
func All() []*Variant {
	all := slices.Clone(registry)
	slices.SortStableFunc(all, func(a, b *Variant) int { return rank(a.Name) - rank(b.Name) })
	return all
}

// Select the variants of a comma-separated list; "all" is all of them.
func Select(list string) ([]*Variant, error) {
	if list == "" || list == "all" {
		return All(), nil
	}
	var out []*Variant
	for name := range strings.SplitSeq(list, ",") {
		v := find(strings.TrimSpace(name))
		if v == nil {
			return nil, fmt.Errorf("no variant %q; there are %s", name, strings.Join(Names(), ", "))
		}
		out = append(out, v)
	}
	return out, nil
}

// Find the variant of a name; nil if there is none.
func Find(name string) *Variant { return find(name) }

func find(name string) *Variant {
	for _, v := range registry {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// Names of all variants.
func Names() []string {
	var out []string
	for _, v := range All() {
		out = append(out, v.Name)
	}
	return out
}
