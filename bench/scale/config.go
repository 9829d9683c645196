// Package scale works out what a client process pays for a Redis Cluster of many nodes: a discrete-event simulation of
// autopipe's lanes, on costs that were measured with the real engine (Measured).
//
// The simulation has its own clock and its own random numbers, so the same Config gives the same Result on any machine.
package scale

import "time"

// Config is one run.
type Config struct {
	Nodes int     // at least 1
	Rate  float64 // commands per second of the client process, over all nodes

	// RTT is what the network adds to a command, both ways together.
	RTT time.Duration

	// Procs is the client's GOMAXPROCS. Zero means 16.
	Procs int

	// Burst commands arrive at the same moment, as when a request handler asks for many keys at once; these moments come at
	// random (a Poisson process). Zero means 1. With Local all commands of a burst go to one node, as keys with a common hash
	// tag do; without, each goes to any node.
	Burst int
	Local bool

	Plain  bool          // without autopipe: each command by itself, on a connection of its own
	Linger time.Duration // WithLinger

	// Commands to simulate, those of the warm-up (a fifth) included. Zero means 50,000.
	Commands int
	Seed     uint64

	Costs Costs

	// Of a measured point that the run shall reproduce. Zero for extrapolation.

	// SharedProcs lets the servers run on the client's processors, as they do when all are on one machine. Servers is how
	// many they are; zero means one for each node.
	SharedProcs bool
	Servers     int
	// Oversleep is how much later than asked the source of the commands wakes up. What has become due meanwhile comes at
	// once.
	Oversleep time.Duration
	// Jitter is by how much longer a round trip takes, on average, at random (exponentially). The smallest one, from which
	// a lane finds its places, stays as it is.
	Jitter time.Duration
}

// Costs are processor times. They are the inputs of the model; see Measured for where they come from.
type Costs struct {
	Plain      time.Duration // of a command through a plain client
	Lone       time.Duration // of one that leaves alone, with autopipe
	Fixed      time.Duration // of a batch, besides
	PerCommand time.Duration // of each command in it: its caller's sleep and waking included

	ServerFixed      time.Duration // of the server, for each time it reads from a connection
	ServerPerCommand time.Duration

	// Driver is what the load generator takes for a command, on the client's processors. Zero for extrapolation.
	Driver time.Duration
}

// batch is what n commands cost that have queued. One by itself goes as a lone command does, but on a runner's goroutine,
// and its caller sleeps and is woken.
func (c *Costs) batch(n int) time.Duration {
	if n == 1 {
		return c.Lone + c.PerCommand
	}
	return c.Fixed + time.Duration(n)*c.PerCommand
}

// BreakEven is the number of commands from which on a batch costs less than as many commands through a plain client. Zero
// if none does.
func (c *Costs) BreakEven() float64 {
	if c.Plain <= c.PerCommand {
		return 0
	}
	return float64(c.Fixed) / float64(c.Plain-c.PerCommand)
}

// How a batch's and a command's cost is divided over its stages. Only the sums are measured; the shares say when within a
// round trip the processor is taken, which matters little below saturation.
const (
	sendShare  = 2 // half is for sending, the rest for reading
	stageShare = 3 // a third of PerCommand is the caller's way into the queue
)

// yieldCost is a Gosched with nothing else to run. DESIGN.md: next to nothing.
const yieldCost = 100 * time.Nanosecond

func (c Config) normal() Config {
	c.Nodes = max(c.Nodes, 1)
	if c.Procs <= 0 {
		c.Procs = 16
	}
	c.Burst = max(c.Burst, 1)
	if c.Commands <= 0 {
		c.Commands = 50_000
	}
	if c.Servers <= 0 || c.Servers > c.Nodes {
		c.Servers = c.Nodes
	}
	return c
}
