package meter

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// batch makes a batch of n commands as the engine would at BatchEnd.
func batch(n int, names ...string) *telemetry.Batch {
	b := &telemetry.Batch{Pipe: "p", Reason: telemetry.FlushDrain, Size: n, Bytes: 50 * n, Cut: time.Now(), RoundTrip: 200 * time.Microsecond}
	for i := range n {
		name := "get"
		if len(names) > 0 {
			name = names[i%len(names)]
		}
		wait := time.Duration(n-i) * time.Microsecond
		b.Commands = append(b.Commands, telemetry.Command{
			Name: name, Context: context.Background(), Wait: wait, Attempt: 1, Start: b.Cut.Add(-wait), Outcome: telemetry.OutcomeOK,
		})
	}
	return b
}

func only(t *testing.T, m *Meter) *State {
	t.Helper()
	states := m.Read()
	if len(states) != 1 {
		t.Fatalf("%d pipes, want 1", len(states))
	}
	return states[0]
}

func total(s *State, m *Metric) (n uint64) {
	for _, s := range s.Series {
		if m.Counts != nil {
			c := m.Counts(s)
			for i := range c {
				n += c[i].Load()
			}
		} else {
			n += m.Distribution(s).Snapshot().Count
		}
	}
	return n
}

func TestCounts(t *testing.T) {
	m := New(Options{})
	ev := m.Attach(telemetry.Pipe{Name: "p", MaxBatch: 512, MaxQueue: 100}, nil)
	ctx := context.Background()
	ev.BatchEnd(ctx, batch(1))
	b := batch(10)
	b.Commands[3].Again = true
	b.Commands[4].Left, b.Commands[4].Outcome = true, telemetry.OutcomeCancelled
	b.Commands[5].Outcome = telemetry.OutcomeNil
	ev.BatchEnd(ctx, b)
	ev.Retry(ctx, &telemetry.Retry{Cause: telemetry.RetryLoading})
	ev.Drop(ctx, &telemetry.Drop{Outcome: telemetry.OutcomeCancelled, InFlight: true, Waited: time.Millisecond})
	ev.Drop(ctx, &telemetry.Drop{Outcome: telemetry.OutcomeRejected})
	ev.Direct(ctx, &telemetry.Direct{Reason: telemetry.DirectBlocking})
	ev.Pipeline(ctx, &telemetry.Pipeline{Size: 7})
	s := only(t, m)
	for _, c := range []struct {
		m    *Metric
		want uint64
	}{
		{Commands, 1 + 8 + 2 + 1}, {Flushes, 2}, {Direct, 1}, {Retries, 1}, {Pipelines, 1}, {PipelinedCommands, 7},
		{BatchSize, 2}, {BatchBytes, 2}, {BatchDuration, 2}, {QueueWait, 11}, {CommandDuration, 1 + 8 + 1},
	} {
		if got := total(s, c.m); got != c.want {
			t.Errorf("%s: %d, want %d", c.m.Name, got, c.want)
		}
	}
	if got := BatchSize.Distribution(s.Series[0]).Snapshot().Sum; got != 11 {
		t.Errorf("sum of batch sizes %g, want 11", got)
	}
}

// The duration of a command that was sent twice is from its caller's call, not from its last sending.
func TestDurationCoversRetries(t *testing.T) {
	b := batch(2)
	c := &b.Commands[0]
	c.Attempt, c.Start = 2, b.Cut.Add(-50*time.Millisecond)
	if got := Duration(b, c); got != 50*time.Millisecond+b.RoundTrip {
		t.Errorf("got %v", got)
	}
	c.Duration = time.Second
	if got := Duration(b, c); got != time.Second {
		t.Errorf("got %v, want the engine's own figure", got)
	}
}

func TestEverythingExistsAtZero(t *testing.T) {
	m := New(Options{})
	m.Attach(telemetry.Pipe{Name: "p"}, nil)
	s := only(t, m).Series[0]
	for _, e := range Catalogue {
		if e.Counts != nil && e.Label != "" {
			if got := len(e.Counts(s)); got != len(e.Values) {
				t.Errorf("%s: %d counters for %d values", e.Name, got, len(e.Values))
			}
		}
	}
}

func TestCommandNamesAreBounded(t *testing.T) {
	m := New(Options{Commands: true})
	ev := m.Attach(telemetry.Pipe{Name: "p"}, nil)
	for i := range 10_000 {
		ev.BatchEnd(context.Background(), batch(2, fmt.Sprintf("raw%d", i), "get"))
	}
	got := map[string]uint64{}
	only(t, m).Series[0].ByCommand(func(c *CommandSeries) { got[c.Name] = c.Duration().Snapshot().Count })
	if len(got) != 2 || got["get"] != 10_000 || got[Other] != 10_000 {
		t.Errorf("by command: %v", got)
	}
}

func TestNodesAreBounded(t *testing.T) {
	m := New(Options{})
	ev := m.Attach(telemetry.Pipe{Name: "p"}, nil)
	const nodes = 3 * MaxNodes
	for i := range nodes {
		b := batch(1)
		b.Node = fmt.Sprintf("10.0.%d.%d:6379", i/256, i%256)
		ev.BatchEnd(context.Background(), b)
	}
	s := only(t, m)
	if len(s.Series) > MaxNodes+2 {
		t.Errorf("%d series", len(s.Series))
	}
	if got := total(s, Commands); got != nodes {
		t.Errorf("%d commands counted of %d", got, nodes)
	}
}

type fakeHook struct {
	events telemetry.Events
	queued int
	_      [1 << 12]byte // ballast
}

func (h *fakeHook) gauges() telemetry.Gauges { return telemetry.Gauges{Queued: h.queued, InFlight: 1} }

// A hook leads to its lanes and client: the meter must let go of it when nobody else holds it.
func TestHooksAreNotKeptAlive(t *testing.T) {
	m := New(Options{})
	live := &fakeHook{queued: 3}
	attach := func(h *fakeHook) {
		h.events = m.Attach(telemetry.Pipe{Name: "p", MaxQueue: 10, Gauges: h.gauges}, nil)
	}
	attach(live)
	var freed atomic.Int64
	for range 1000 {
		h := &fakeHook{queued: 1000}
		attach(h)
		h.events.BatchEnd(context.Background(), batch(1))
		runtime.AddCleanup(h, func(int) { freed.Add(1) }, 0)
	}
	for end := time.Now().Add(time.Minute); freed.Load() < 1000; time.Sleep(time.Millisecond) {
		runtime.GC()
		if time.Now().After(end) {
			t.Fatalf("only %d of 1000 hooks were freed", freed.Load())
		}
	}
	s := only(t, m)
	if n := s.Nodes; len(n) != 1 || n[0] != (telemetry.NodeGauges{Queued: 3, InFlight: 1}) || s.QueueLimit != 10 {
		t.Errorf("gauges %+v, limit %d: want those of the one hook alive", s.Nodes, s.QueueLimit)
	}
	if got := total(s, Commands); got != 1000 || len(s.Series) != 1 {
		t.Errorf("%d commands in %d series", got, len(s.Series))
	}
	if n := len(m.pipes[0].hooks); n != 1 {
		t.Errorf("%d weak pointers kept", n)
	}
	runtime.KeepAlive(live)
}

func TestNoAllocations(t *testing.T) {
	for _, o := range []Options{{}, {Commands: true}, {Sampler: func(context.Context) (Trace, bool) { return Trace{}, true }}} {
		m := New(o)
		ev := m.Attach(telemetry.Pipe{Name: "p"}, nil)
		ctx := context.Background()
		one, many := batch(1), batch(100, "get", "set", "whatever")
		d, r := &telemetry.Drop{Outcome: telemetry.OutcomeCancelled, Name: "get"}, &telemetry.Retry{}
		di, pl := &telemetry.Direct{Name: "blpop"}, &telemetry.Pipeline{Size: 3}
		if n := testing.AllocsPerRun(200, func() {
			ev.BatchEnd(ctx, one)
			ev.BatchEnd(ctx, many)
			ev.Drop(ctx, d)
			ev.Retry(ctx, r)
			ev.Direct(ctx, di)
			ev.Pipeline(ctx, pl)
		}); n != 0 {
			t.Errorf("%+v: %g allocations", o, n)
		}
	}
}

// The OpenTelemetry names must come out of an OTLP-to-Prometheus translation as the Prometheus ones, so that one dashboard
// serves both.
func TestNamesTranslate(t *testing.T) {
	units := map[string]string{"s": "_seconds", "By": "_bytes"}
	seen := map[string]bool{}
	for _, m := range Catalogue {
		name := strings.ReplaceAll(m.Name, ".", "_")
		if u := units[m.Unit]; u != "" && !strings.HasSuffix(name, u) {
			name += u
		}
		if m.Kind == Counter {
			name += "_total"
		}
		if name != m.Prometheus {
			t.Errorf("%s translates to %s, not %s", m.Name, name, m.Prometheus)
		}
		if m.Unit == "1" {
			t.Errorf("%s: unit 1 would add _ratio", m.Name)
		}
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		if m.Help == "" || m.PromQL == "" {
			t.Errorf("%s: no help or no query", m.Name)
		}
	}
}

// TestGoneNodes: hooks of one pipe say which nodes they know; the series of others go, and of those that come again start anew.
func TestGoneNodes(t *testing.T) {
	m := New(Options{})
	var nodes [2][]telemetry.NodeGauges
	var ev [2]telemetry.Events
	for i := range nodes {
		ev[i] = m.Attach(telemetry.Pipe{Name: "p", Gauges: func() telemetry.Gauges {
			g := telemetry.Gauges{Queued: 1, Nodes: nodes[i]}
			for _, n := range nodes[i] {
				g.Queued += n.Queued
			}
			return g
		}}, nil)
	}
	send := func(hook int, node string) {
		b := batch(1)
		b.Node = node
		ev[hook].BatchEnd(context.Background(), b)
	}
	check := func(what string, want map[string]uint64, queued ...telemetry.NodeGauges) {
		t.Helper()
		s := only(t, m)
		got := map[string]uint64{}
		for _, s := range s.Series {
			got[s.Node] = Commands.Counts(s)[telemetry.OutcomeOK].Load()
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: commands by node %v, want %v", what, got, want)
		}
		if !slices.Equal(s.Nodes, queued) {
			t.Errorf("%s: gauges %v, want %v", what, s.Nodes, queued)
		}
	}
	nodes[0] = []telemetry.NodeGauges{{Node: "b", Queued: 5}, {Node: "a", Queued: 2}}
	nodes[1] = []telemetry.NodeGauges{{Node: "b", Queued: 3}}
	send(0, "a")
	send(0, "b")
	send(1, "b")
	send(1, "")
	rest, a := telemetry.NodeGauges{Queued: 2}, telemetry.NodeGauges{Node: "a", Queued: 2}
	check("two nodes", map[string]uint64{"": 1, "a": 1, "b": 2}, rest, a, telemetry.NodeGauges{Node: "b", Queued: 8})
	nodes[1] = nil
	check("one hook knows it", map[string]uint64{"": 1, "a": 1, "b": 2}, rest, a, telemetry.NodeGauges{Node: "b", Queued: 5})
	nodes[0] = nodes[0][1:]
	check("none knows it", map[string]uint64{"": 1, "a": 1}, rest, a)
	nodes[1] = []telemetry.NodeGauges{{Node: "b"}}
	send(1, "b")
	check("it is back", map[string]uint64{"": 1, "a": 1, "b": 1}, rest, a, telemetry.NodeGauges{Node: "b"})
	runtime.KeepAlive(ev)
}
