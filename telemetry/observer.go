package telemetry

import (
	"context"
	"time"
)

// Observer hears what a hook does. It is attached once to each hook it is given to, and answers with the
// functions it wants called.
type Observer interface {
	Attach(Pipe) Events
}

// Pipe describes the hook that an observer is attached to.
type Pipe struct {
	Name string // WithName, "default" if not set

	// The limits in force, after clamping.
	MaxBatch      int // commands
	MaxBatchBytes int // bytes
	MaxInFlight   int // batches
	MaxQueue      int // commands
	MaxRetries    int // sendings of one command after its first

	// Linger is how long a batch waits for more commands, 0 if it does not.
	Linger time.Duration
	// Retry is the name of the retry policy.
	Retry string

	// Gauges reads the state of the queue now. It is cheap and safe at any time; call it at collection.
	Gauges func() Gauges
}

// Gauges is the state of a hook's queues at one moment, summed over its lanes.
type Gauges struct {
	Queued   int // commands admitted and not yet cut
	InFlight int // batches on their way, lone commands included

	// Nodes are the same by node, for the nodes with lanes of their own whose clients are in use, in no order. Lanes of
	// no single node are in the sums only.
	Nodes []NodeGauges
}

// NodeGauges is the part of a node in Gauges.
type NodeGauges struct {
	Node             string // host:port
	Queued, InFlight int
}

// Events is the set of functions an observer wants called; nil ones cost nothing. They are called
// concurrently, on goroutines that carry other people's commands: return soon, do not panic, and do not
// use the client. An event is valid only until the function returns.
type Events struct {
	// BatchStart is called when a batch has been cut and before it is sent. The context it returns goes to
	// hooks added after this one and to BatchEnd, so a span started here becomes their parent; return ctx
	// itself if there is nothing to add.
	BatchStart func(ctx context.Context, b *Batch) context.Context
	// BatchEnd is called, on the same goroutine, when every command of the batch has its outcome.
	BatchEnd func(ctx context.Context, b *Batch)
	// Direct is called when a command that did not queue has returned.
	Direct func(ctx context.Context, d *Direct)
	// Retry is called before the pause that precedes another sending.
	Retry func(ctx context.Context, r *Retry)
	// Drop is called when a caller leaves without a reply, or is refused.
	Drop func(ctx context.Context, d *Drop)
	// Pipeline is called when an explicit pipeline or transaction has returned.
	Pipeline func(ctx context.Context, p *Pipeline)
}
