package scale

import (
	"math"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/report"
)

// Measured are the readings that the model rests on, and those that it has to reproduce. "scalesim -measure" takes them.
// Durations are nanoseconds in JSON.
type Measured struct {
	Machine report.Machine `json:"machine"`
	Date    string         `json:"date"`
	// Others is the share of the processors that other programs used meanwhile.
	Others float64 `json:"others"`

	Idle   []Idle   `json:"idle"`
	Series Series   `json:"series"`
	CPU    CPU      `json:"cpu"`
	Links  []Link   `json:"links"`
	Points []*Point `json:"points"`
}

// Idle is what each node of a cluster client at rest takes of the process, in bytes of heap and stacks and in goroutines.
// Buffers of the kernel are not in it.
type Idle struct {
	Nodes int `json:"nodes"`

	Plain            float64 `json:"plain"`         // after one command: one regular connection
	Attached         float64 `json:"attached"`      // the same with Attach
	RegularConn      float64 `json:"regular_conn"`  // each regular connection more
	PipelineConn     float64 `json:"pipeline_conn"` // each connection for pipelines
	PlainRoutines    float64 `json:"plain_goroutines"`
	AttachedRoutines float64 `json:"attached_goroutines"`
	ObservedHeap     float64 `json:"observed"` // of telemetry/prom, besides; 0 where MaxNodes bounds it
}

// Series are what telemetry/prom exports, in the text format.
type Series struct {
	Pipe     int     `json:"pipe"` // a hook without nodes
	Node     float64 `json:"node"` // each node more
	PipeText int     `json:"pipe_bytes"`
	NodeText float64 `json:"node_bytes"`
	// AtThousand are the series of 1,000 nodes, which meter.MaxNodes bounds.
	AtThousand     int `json:"at_1000"`
	AtThousandText int `json:"at_1000_bytes"`
}

// CPU times of the client process (getrusage), per flush: of a lone command or of a batch.
type CPU struct {
	Plain    []Flush `json:"plain"`    // a plain client
	Lone     []Flush `json:"lone"`     // Attach, so few callers that each command leaves alone
	Batch    []Flush `json:"batch"`    // Attach with one batch in flight at each of some nodes, which share the callers
	Pipeline []Flush `json:"pipeline"` // pipelines by hand, one caller at each node

	BatchLine    Line `json:"batch_line"`
	PipelineLine Line `json:"pipeline_line"`
	ServerLine   Line `json:"server_line"` // redis-server, for the batches
}

// Flush is one reading.
type Flush struct {
	Callers int           `json:"callers"`
	Size    float64       `json:"size"` // commands, mean
	Client  time.Duration `json:"client_ns"`
	Server  time.Duration `json:"server_ns"`
}

// Line is Fixed + n * PerCommand.
type Line struct {
	Fixed      time.Duration `json:"fixed_ns"`
	PerCommand time.Duration `json:"per_command_ns"`
}

// Link is a way to the server.
type Link struct {
	Delay time.Duration `json:"delay_ns"` // what the delaying proxy is told
	Trip  time.Duration `json:"trip_ns"`  // of a lone caller's command, median
}

// Point is one open-loop run with the real engine, and the same with a plain client.
type Point struct {
	Nodes int           `json:"nodes"`
	Rate  float64       `json:"rate"`
	Delay time.Duration `json:"delay_ns"`

	Oversleep time.Duration `json:"oversleep_ns"` // of the source of the commands, mean
	Driver    time.Duration `json:"driver_ns"`    // client CPU per command with nothing to do

	Attach Reading `json:"attach"`
	Plain  Reading `json:"plain"`
}

// Reading of one run of a Point, medians of the repetitions.
type Reading struct {
	Rate     float64       `json:"rate"` // executed
	Depth    float64       `json:"depth"`
	CPU      time.Duration `json:"cpu_ns"` // client, per command, without the driver
	WaitP50  time.Duration `json:"wait_p50_ns"`
	WaitP99  time.Duration `json:"wait_p99_ns"`
	Latency  time.Duration `json:"latency_p50_ns"`
	Regular  float64       `json:"regular_conns"`
	Pipeline float64       `json:"pipeline_conns"`
}

// Costs for extrapolation: lone and plain commands at eight callers, as an idle process with one caller pays for
// processors that fall asleep and wake up.
func (m *Measured) Costs() Costs {
	return Costs{
		Plain: at(m.CPU.Plain, 8), Lone: at(m.CPU.Lone, 8),
		Fixed: m.CPU.BatchLine.Fixed, PerCommand: m.CPU.BatchLine.PerCommand,
		ServerFixed: m.CPU.ServerLine.Fixed, ServerPerCommand: m.CPU.ServerLine.PerCommand,
	}
}

func at(list []Flush, callers int) time.Duration {
	for _, f := range list {
		if f.Callers == callers {
			return f.Client
		}
	}
	return 0
}

// Replay is the Config that reproduces p: everything on one machine, the arrivals as its source made them.
func (m *Measured) Replay(p *Point, plain bool) Config {
	c := Config{
		Nodes: p.Nodes, Rate: p.Rate, Procs: m.Machine.GOMAXPROCS, Plain: plain, Costs: m.Costs(),
		SharedProcs: true, Servers: 1, Oversleep: p.Oversleep,
		Commands: int(min(p.Rate, 50_000)),
	}
	c.Costs.Driver = p.Driver
	for _, l := range m.Links {
		if l.Delay == p.Delay {
			// What is left of a lone command's round trip when the client and the server have done their part.
			c.RTT = max(0, l.Trip-c.Costs.Lone-c.Costs.ServerFixed-c.Costs.ServerPerCommand)
		}
	}
	return c
}

// ReplayLate is Replay with round trips that vary by as much as p's median latency was above the simulated one. It tells
// what remains of a difference once the round trips are the same.
func (m *Measured) ReplayLate(p *Point) Config {
	c := m.Replay(p, false)
	late := max(0, p.Attach.Latency-Run(c).Latency.Quantile(0.5))
	c.Jitter = time.Duration(float64(late) / math.Ln2) // from the median of an exponential distribution to its mean
	return c
}

// Fit is the line through the readings with the least squares of relative errors: a reading's noise grows with its size.
func Fit(list []Flush, value func(Flush) time.Duration) Line {
	var w, wx, wy, wxx, wxy float64
	for _, f := range list {
		y := float64(value(f))
		if y <= 0 {
			continue
		}
		k := 1 / (y * y)
		w += k
		wx += k * f.Size
		wy += k * y
		wxx += k * f.Size * f.Size
		wxy += k * f.Size * y
	}
	d := w*wxx - wx*wx
	if d == 0 {
		return Line{}
	}
	b := (w*wxy - wx*wy) / d
	return Line{Fixed: time.Duration((wy - b*wx) / w), PerCommand: time.Duration(b)}
}

// At is the line's value for n commands.
func (l Line) At(n float64) time.Duration { return l.Fixed + time.Duration(n*float64(l.PerCommand)) }
