package scale

import (
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

// Result is what a run shows, of the commands after the warm-up.
type Result struct {
	Commands uint64
	Flushes  uint64        // batches, lone commands included
	CPU      time.Duration // of the client, for Commands, without the driver

	Wait      load.Hist // in the queue, each command; zero for lone ones
	Latency   load.Hist // as its caller saw it
	RoundTrip load.Hist // each flush

	// Connections that are open at the end, over all nodes: at each node as many as were ever in use at once.
	MainConns, PipelineConns int

	// CoresBusy is how many of the client's processors had work, on average; with SharedProcs the servers' included.
	CoresBusy float64

	sizes  [maxBatch + 1]uint64
	flying time.Duration // round trips together
	config Config
	begin  time.Duration // of counting
	last   time.Duration // arrival
	end    time.Duration
}

func (r *Result) flush(n int, cpu time.Duration) {
	r.Commands += uint64(n)
	r.Flushes++
	r.CPU += cpu
	r.sizes[n]++
}

func (r *Result) wait(d time.Duration) { r.Wait.Record(d) }

func (r *Result) trip(counted bool, d time.Duration) {
	if counted {
		r.RoundTrip.Record(d)
		r.flying += d
	}
}

// Depth is the mean number of commands in a flush.
func (r *Result) Depth() float64 {
	if r.Flushes == 0 {
		return 0
	}
	return float64(r.Commands) / float64(r.Flushes)
}

// DepthQuantile is the batch size that the share q of all flushes do not exceed.
func (r *Result) DepthQuantile(q float64) int {
	rank, seen := q*float64(r.Flushes), uint64(0)
	for n, count := range r.sizes {
		if seen += count; count > 0 && float64(seen) >= rank {
			return n
		}
	}
	return 0
}

// Alone is the share of commands that left alone.
func (r *Result) Alone() float64 {
	if r.Commands == 0 {
		return 0
	}
	return float64(r.sizes[1]) / float64(r.Commands)
}

// InFlight is the mean number of flushes under way at a node (Little's law).
func (r *Result) InFlight() float64 {
	if r.last <= r.begin {
		return 0
	}
	return float64(r.flying) / float64(r.last-r.begin) / float64(r.config.Nodes)
}

// CPUPerCommand of the client.
func (r *Result) CPUPerCommand() time.Duration {
	if r.Commands == 0 {
		return 0
	}
	return r.CPU / time.Duration(r.Commands)
}

// Overloaded reports whether the processors could not keep up: the last commands ended long after the last had come, so
// the numbers depend on how long the run was.
func (r *Result) Overloaded() bool {
	return r.end-r.last > (r.last-r.begin)/10+3*r.config.RTT+r.config.Linger+5*time.Millisecond
}
