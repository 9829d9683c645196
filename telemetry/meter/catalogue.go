package meter

import (
	"sync/atomic"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
)

// Kind is what a metric is.
type Kind string

// The kinds.
const (
	Counter   Kind = "counter"
	Histogram Kind = "histogram"
	Gauge     Kind = "gauge"
)

// The label keys that all exporters use. A metric has LabelPipe, the metrics of traffic and of the queue also LabelNode,
// which is empty but on lanes of their own for each node.
const (
	LabelPipe    = "pipe"
	LabelNode    = "node"
	LabelOutcome = "outcome"
	LabelReason  = "reason"
	LabelCause   = "cause"
	LabelCommand = "command" // only if the user asked for it
	LabelPool    = "pool"    // only pool metrics: main or pipeline
)

// Metric is one entry of the catalogue.
type Metric struct {
	Name       string // OpenTelemetry
	Prometheus string
	Unit       string // OpenTelemetry's: s, By, {command} ...
	Kind       Kind
	Help       string
	PromQL     string // a query that uses it
	OptIn      string // the option that switches it on, "" if it is always there

	// Label is the key of the metric's own label, "" if it has none, and Values its closed set of values.
	Label  string
	Values []string
	// ByCommand says that WithCommandNames adds LabelCommand.
	ByCommand bool

	// How to read it; which of them is set follows from the kind.
	Counts       func(*Series) []atomic.Uint64 // in the order of Values; one if there is no label
	Distribution func(*Series) *Distribution
	Layout       *histogram.Layout
	Value        func(*State) float64
	NodeValue    func(telemetry.NodeGauges) float64
	PoolValue    func(*Pool) float64
}

func names[T interface {
	~uint8
	String() string
}](n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = T(i).String()
	}
	return list
}

// The metrics of traffic.
var (
	Commands = &Metric{
		Name: "autopipe.commands", Prometheus: "autopipe_commands_total", Unit: "{command}", Kind: Counter,
		Help:   "Commands that returned to their callers, by how they ended. Each counts once, however often it was sent.",
		PromQL: `sum by (outcome) (rate(autopipe_commands_total[5m]))`,
		Label:  LabelOutcome, Values: names[telemetry.Outcome](telemetry.NumOutcomes), ByCommand: true,
		Counts: func(s *Series) []atomic.Uint64 { return s.commands[:] },
	}
	Flushes = &Metric{
		Name: "autopipe.flushes", Prometheus: "autopipe_flushes_total", Unit: "{flush}", Kind: Counter,
		Help:   "Batches sent, lone commands included, by why they left when they did.",
		PromQL: `sum by (reason) (rate(autopipe_flushes_total[5m])) / ignoring(reason) group_left sum(rate(autopipe_flushes_total[5m]))`,
		Label:  LabelReason, Values: names[telemetry.FlushReason](telemetry.NumFlushReasons),
		Counts: func(s *Series) []atomic.Uint64 { return s.flushes[:] },
	}
	Direct = &Metric{
		Name: "autopipe.direct", Prometheus: "autopipe_direct_total", Unit: "{command}", Kind: Counter,
		Help:   "Commands that did not queue but went to the server on their own, by why.",
		PromQL: `topk(3, sum by (reason) (rate(autopipe_direct_total[5m])))`,
		Label:  LabelReason, Values: names[telemetry.DirectReason](telemetry.NumDirectReasons),
		Counts: func(s *Series) []atomic.Uint64 { return s.direct[:] },
	}
	Retries = &Metric{
		Name: "autopipe.retries", Prometheus: "autopipe_retries_total", Unit: "{retry}", Kind: Counter,
		Help:   "Decisions to send one command again, by the failure behind them. A caller that leaves in the pause before still counts.",
		PromQL: `sum by (cause) (rate(autopipe_retries_total[5m]))`,
		Label:  LabelCause, Values: names[telemetry.RetryCause](telemetry.NumRetryCauses),
		Counts: func(s *Series) []atomic.Uint64 { return s.retries[:] },
	}
	Pipelines = &Metric{
		Name: "autopipe.pipelines", Prometheus: "autopipe_pipelines_total", Unit: "{pipeline}", Kind: Counter,
		Help:   "Explicit pipelines and transactions of the application's own, which pass unchanged and are in no other count.",
		PromQL: `sum(rate(autopipe_pipelines_total[5m]))`,
		Counts: func(s *Series) []atomic.Uint64 { return s.pipelines[:1] },
	}
	PipelinedCommands = &Metric{
		Name: "autopipe.pipelined.commands", Prometheus: "autopipe_pipelined_commands_total", Unit: "{command}", Kind: Counter,
		Help:   "Commands in explicit pipelines and transactions of the application's own.",
		PromQL: `sum(rate(autopipe_pipelined_commands_total[5m])) / sum(rate(autopipe_pipelines_total[5m]))`,
		Counts: func(s *Series) []atomic.Uint64 { return s.pipelines[1:] },
	}
	BatchSize = &Metric{
		Name: "autopipe.batch.size", Prometheus: "autopipe_batch_size", Unit: "{command}", Kind: Histogram,
		Help:         "Commands per batch. Its sum over its count is how many commands share one round trip.",
		PromQL:       `sum(rate(autopipe_batch_size_sum[5m])) / sum(rate(autopipe_batch_size_count[5m]))`,
		Layout:       histogram.Commands,
		Distribution: func(s *Series) *Distribution { return s.batchSize },
	}
	BatchBytes = &Metric{
		Name: "autopipe.batch.bytes", Prometheus: "autopipe_batch_bytes", Unit: "By", Kind: Histogram,
		Help:         "Approximate bytes of the requests in a batch.",
		PromQL:       `histogram_quantile(0.99, sum by (le) (rate(autopipe_batch_bytes_bucket[5m])))`,
		Layout:       histogram.Bytes,
		Distribution: func(s *Series) *Distribution { return s.batchBytes },
	}
	QueueWait = &Metric{
		Name: "autopipe.queue.wait.duration", Prometheus: "autopipe_queue_wait_duration_seconds", Unit: "s", Kind: Histogram,
		Help:         "Time that a command waited for its batch to leave, once for each sending.",
		PromQL:       `histogram_quantile(0.99, sum by (le) (rate(autopipe_queue_wait_duration_seconds_bucket[5m])))`,
		Layout:       histogram.Seconds,
		Distribution: func(s *Series) *Distribution { return s.queueWait },
	}
	BatchDuration = &Metric{
		Name: "autopipe.batch.duration", Prometheus: "autopipe_batch_duration_seconds", Unit: "s", Kind: Histogram,
		Help:         "Time from a batch's leaving until its last reply was read: the round trip, with the wait for a connection.",
		PromQL:       `histogram_quantile(0.99, sum by (le) (rate(autopipe_batch_duration_seconds_bucket[5m])))`,
		Layout:       histogram.Seconds,
		Distribution: func(s *Series) *Distribution { return s.batchDuration },
	}
	CommandDuration = &Metric{
		Name: "autopipe.command.duration", Prometheus: "autopipe_command_duration_seconds", Unit: "s", Kind: Histogram,
		Help:         "Time of a command as its caller saw it: queue, round trip and retries. Direct and rejected commands are not in it.",
		PromQL:       `sum(rate(autopipe_command_duration_seconds_bucket{le="0.001"}[5m])) / sum(rate(autopipe_command_duration_seconds_count[5m]))`,
		ByCommand:    true,
		Layout:       histogram.Seconds,
		Distribution: func(s *Series) *Distribution { return s.commandDuration },
	}
)

// The gauges, read when they are collected.
var (
	QueueDepth = &Metric{
		Name: "autopipe.queue.depth", Prometheus: "autopipe_queue_depth", Unit: "{command}", Kind: Gauge,
		Help:      "Commands that wait for a batch now.",
		PromQL:    `max by (pipe) (autopipe_queue_depth / on (instance, pipe) group_left autopipe_queue_limit)`,
		NodeValue: func(n telemetry.NodeGauges) float64 { return float64(n.Queued) },
	}
	QueueLimit = &Metric{
		Name: "autopipe.queue.limit", Prometheus: "autopipe_queue_limit", Unit: "{command}", Kind: Gauge,
		Help:   "Commands that may wait in one lane before more are rejected (WithMaxQueue), summed over the hooks of the pipe.",
		PromQL: `autopipe_queue_depth > on (instance, pipe) group_left 0.8 * autopipe_queue_limit`,
		Value:  func(s *State) float64 { return float64(s.QueueLimit) },
	}
	BatchesInFlight = &Metric{
		Name: "autopipe.batches.in_flight", Prometheus: "autopipe_batches_in_flight", Unit: "{batch}", Kind: Gauge,
		Help:      "Batches on their way now, lone commands included.",
		PromQL:    `max by (pipe, node) (max_over_time(autopipe_batches_in_flight[5m]))`,
		NodeValue: func(n telemetry.NodeGauges) float64 { return float64(n.InFlight) },
	}
	BatchLimit = &Metric{
		Name: "autopipe.batch.limit", Prometheus: "autopipe_batch_limit", Unit: "{command}", Kind: Gauge,
		Help:   "Commands that a batch may hold (WithMaxBatch), the greatest among the hooks of the pipe.",
		PromQL: `sum by (pipe) (rate(autopipe_batch_size_sum[5m])) / sum by (pipe) (rate(autopipe_batch_size_count[5m])) / on (pipe) group_left max by (pipe) (autopipe_batch_limit)`,
		Value:  func(s *State) float64 { return float64(s.BatchLimit) },
	}
	ConfigInfo = &Metric{
		Name: "autopipe.config.info", Prometheus: "autopipe_config_info", Kind: Gauge,
		Help:   "Always 1. The options in force are its labels; one for each different set among the hooks of the pipe.",
		PromQL: `count by (max_batch, linger, retry) (autopipe_config_info)`,
	}
	BuildInfo = &Metric{
		Name: "autopipe.build.info", Prometheus: "autopipe_build_info", Kind: Gauge,
		Help:   "Always 1. The versions of autopipe, go-redis and Go are its labels.",
		PromQL: `count by (version, goredis_version, go_version) (autopipe_build_info)`,
	}
)

// DBOperationDuration is the metric of OpenTelemetry's database conventions; otelpipe makes it.
var DBOperationDuration = &Metric{
	Name: "db.client.operation.duration", Prometheus: "db_client_operation_duration_seconds", Unit: "s", Kind: Histogram,
	OptIn:  "otelpipe.WithDBConventions",
	Help:   "Duration of database client operations, as their callers saw them, direct ones included. Nil is no error.",
	PromQL: `histogram_quantile(0.99, sum by (le, db_operation_name) (rate(db_client_operation_duration_seconds_bucket{db_system_name="redis"}[5m])))`,
	Layout: histogram.Seconds,
}

// Catalogue lists every metric that autopipe exports.
var Catalogue = append([]*Metric{
	Commands, Flushes, Direct, Retries, BatchSize, BatchBytes, QueueWait, BatchDuration, CommandDuration,
	Pipelines, PipelinedCommands,
	QueueDepth, QueueLimit, BatchesInFlight, BatchLimit, ConfigInfo, BuildInfo,
	DBOperationDuration,
}, PoolMetrics...)
