package autopipe

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
)

// counters are what Stats reads. They are added to once per batch, not once per command.
type counters struct {
	commands  atomic.Uint64 // sent in batches, lone ones and retries included
	bytes     atomic.Uint64
	flushes   [telemetry.NumFlushReasons]atomic.Uint64
	direct    [telemetry.NumDirectReasons]atomic.Uint64
	outcome   [telemetry.NumOutcomes]atomic.Uint64
	retries   [telemetry.NumRetryCauses]atomic.Uint64
	pipelines atomic.Uint64
	pipelined atomic.Uint64
}

func (c *counters) batch(reason telemetry.FlushReason, commands, bytes int) {
	c.commands.Add(uint64(commands))
	c.bytes.Add(uint64(bytes))
	c.flushes[reason].Add(1)
}

func (c *counters) outcomes(n *[telemetry.NumOutcomes]uint64) {
	for o, n := range n {
		if n > 0 {
			c.outcome[o].Add(n)
		}
	}
}

// Stats are a hook's cumulative counts and the state of its queues. Connection set-up by go-redis (HELLO, AUTH, SELECT
// ...) is in none of them.
type Stats struct {
	Pipe string `json:"pipe"`

	// Commands were sent in Batches, lone commands and retries included. Commands/Batches is the mean batch size.
	Commands uint64 `json:"commands"`
	Batches  uint64 `json:"batches"`
	Bytes    uint64 `json:"bytes"` // of requests, approximate

	Flushes  map[string]uint64 `json:"flushes"`  // batches by telemetry.FlushReason
	Direct   map[string]uint64 `json:"direct"`   // commands that did not queue, by telemetry.DirectReason
	Outcomes map[string]uint64 `json:"outcomes"` // every command that returned, batched or direct, by telemetry.Outcome
	Retries  map[string]uint64 `json:"retries"`  // commands sent again, by telemetry.RetryCause

	// Explicit pipelines and transactions of the user's, and the commands in them. They are in no other count.
	Pipelines         uint64 `json:"pipelines"`
	PipelinedCommands uint64 `json:"pipelined_commands"`

	// QueueWait is the time from admission to the cut of the batch, of one command in sixteen; zero for lone commands.
	// RoundTrip is the time from the cut to the last reply, of every batch and of one lone command in sixteen.
	QueueWait Quantiles `json:"queue_wait"`
	RoundTrip Quantiles `json:"round_trip"`

	Queued   int `json:"queued"`    // commands waiting for a batch now
	InFlight int `json:"in_flight"` // batches on their way now
}

// Quantiles describe durations, at most 9 % off.
type Quantiles struct {
	Samples uint64        `json:"samples"`
	P50     time.Duration `json:"p50_ns"`
	P90     time.Duration `json:"p90_ns"`
	P99     time.Duration `json:"p99_ns"`
}

func quantiles(h *histogram.Histogram) Quantiles {
	s := h.Snapshot()
	return Quantiles{Samples: s.Count, P50: s.Duration(0.5), P90: s.Duration(0.9), P99: s.Duration(0.99)}
}

// Stats reads the counts. It is cheap and may be called at any time; counts that change meanwhile may be from slightly
// different moments. Every reason is present, at zero if it has not occurred.
func (h *Hook) Stats() Stats {
	g := h.lanes.gauges()
	s := Stats{
		Pipe:              h.cfg.name,
		Commands:          h.count.commands.Load(),
		Bytes:             h.count.bytes.Load(),
		Flushes:           make(map[string]uint64, telemetry.NumFlushReasons),
		Direct:            make(map[string]uint64, telemetry.NumDirectReasons),
		Outcomes:          make(map[string]uint64, telemetry.NumOutcomes),
		Retries:           make(map[string]uint64, telemetry.NumRetryCauses),
		Pipelines:         h.count.pipelines.Load(),
		PipelinedCommands: h.count.pipelined.Load(),
		QueueWait:         quantiles(h.waits),
		RoundTrip:         quantiles(h.trips),
		Queued:            g.Queued,
		InFlight:          g.InFlight,
	}
	for i := range h.count.flushes {
		n := h.count.flushes[i].Load()
		s.Flushes[telemetry.FlushReason(i).String()] = n
		s.Batches += n
	}
	for i := range h.count.direct {
		s.Direct[telemetry.DirectReason(i).String()] = h.count.direct[i].Load()
	}
	for i := range h.count.outcome {
		s.Outcomes[telemetry.Outcome(i).String()] = h.count.outcome[i].Load()
	}
	for i := range h.count.retries {
		s.Retries[telemetry.RetryCause(i).String()] = h.count.retries[i].Load()
	}
	return s
}

// MeanBatch is the mean number of commands per batch, 0 before the first.
func (s Stats) MeanBatch() float64 {
	if s.Batches == 0 {
		return 0
	}
	return float64(s.Commands) / float64(s.Batches)
}

// String is one line for people: counts, and the reasons that occurred.
func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "pipe %q: %d commands in %d batches (mean %.1f)", s.Pipe, s.Commands, s.Batches, s.MeanBatch())
	list := func(title string, counts map[string]uint64, name func(int) string, n int) {
		sep := "; " + title + " "
		for i := range n {
			if v := counts[name(i)]; v > 0 {
				fmt.Fprintf(&b, "%s%s %d", sep, name(i), v)
				sep = ", "
			}
		}
	}
	list("flushed", s.Flushes, func(i int) string { return telemetry.FlushReason(i).String() }, telemetry.NumFlushReasons)
	list("direct", s.Direct, func(i int) string { return telemetry.DirectReason(i).String() }, telemetry.NumDirectReasons)
	list("outcomes", s.Outcomes, func(i int) string { return telemetry.Outcome(i).String() }, telemetry.NumOutcomes)
	list("retries", s.Retries, func(i int) string { return telemetry.RetryCause(i).String() }, telemetry.NumRetryCauses)
	if s.Pipelines > 0 {
		fmt.Fprintf(&b, "; %d commands in %d explicit pipelines", s.PipelinedCommands, s.Pipelines)
	}
	if s.RoundTrip.Samples > 0 {
		short := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
		fmt.Fprintf(&b, "; queue wait p50 %v p99 %v, round trip p50 %v p99 %v",
			short(s.QueueWait.P50), short(s.QueueWait.P99), short(s.RoundTrip.P50), short(s.RoundTrip.P99))
	}
	fmt.Fprintf(&b, "; now %d queued, %d in flight", s.Queued, s.InFlight)
	return b.String()
}

// JSON is the same as json.Marshal of the Stats, for a debug page.
func (s Stats) JSON() []byte {
	b, err := json.Marshal(s)
	if err != nil { // maps of numbers always marshal
		panic(err)
	}
	return b
}

// laneSet knows the lanes that have been used, for the gauges. It does not keep them alive: a lane goes when its client
// or connection does, and go-redis does not tell us when.
type laneSet struct {
	mu    sync.Mutex
	lanes []weak.Pointer[lane]
	prune int // length at which to look for lanes that are gone
}

func (s *laneSet) add(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lanes) >= s.prune {
		live := s.lanes[:0]
		for _, p := range s.lanes {
			if p.Value() != nil {
				live = append(live, p)
			}
		}
		clear(s.lanes[len(live):])
		s.lanes = live
		s.prune = max(64, 2*len(live))
	}
	s.lanes = append(s.lanes, weak.Make(l))
}

// gauges sums the state of all lanes.
func (s *laneSet) gauges() (g telemetry.Gauges) {
	s.mu.Lock()
	lanes := make([]*lane, 0, len(s.lanes))
	for _, p := range s.lanes {
		if l := p.Value(); l != nil {
			lanes = append(lanes, l)
		}
	}
	s.mu.Unlock()
	place := map[string]int{}
	for _, l := range lanes {
		l.mu.Lock()
		queued, inFlight := l.q.n+l.held, l.inFlight
		l.mu.Unlock()
		g.Queued += queued
		g.InFlight += inFlight
		if l.node == "" {
			continue
		}
		i, known := place[l.node]
		if !known {
			i = len(g.Nodes)
			place[l.node] = i
			g.Nodes = append(g.Nodes, telemetry.NodeGauges{Node: l.node})
		}
		g.Nodes[i].Queued += queued
		g.Nodes[i].InFlight += inFlight
	}
	return g
}
