package rules

import (
	"slices"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

func ended(o telemetry.Outcome) query.Match { return query.Is(names.Commands, o) }

func node(addr string) query.Match { return query.Match{Label: meter.LabelNode, Op: "=", Value: addr} }

// scenes make each alert fire, after its time and not before, and show a case close by in which it must not.
func scenes() []scene {
	noInstance := []string{query.LabelInstance}
	ok := in(names.Commands, "0+15000x400", ended(telemetry.OutcomeOK)) // 1,000 commands a second
	idle := query.Is(names.Flushes, telemetry.FlushIdle)
	unknown := query.Is(names.Direct, telemetry.DirectUnknown)
	return []scene{
		{name: "queue wait far above the round trip", alert: "AutopipeQueueWaitHigh", quiet: "9m", firing: "13m", without: noInstance,
			input:       slices.Concat(buckets(names.QueueWait, "0.1", "0.25", "0+1500x400"), buckets(names.BatchDuration, "0.0005", "0.001", "0+100x400")),
			description: "1 of 100 commands of pipe orders waits longer than 248.5ms for its batch to leave, and that is more than the round trip."},
		{name: "a slow link, where commands wait less than a round trip", alert: "AutopipeQueueWaitHigh", quiet: "30m",
			input: slices.Concat(buckets(names.QueueWait, "0.05", "0.1", "0+1500x400"), buckets(names.BatchDuration, "0.1", "0.25", "0+100x400"))},

		{name: "a queue that fills", alert: "AutopipeQueueSaturated", quiet: "2m", firing: "8m",
			input:       []series{in(names.QueueDepth, "0x8 900x100"), in(names.QueueLimit, "1000x108")},
			description: "The queue of pipe orders on shop-0:9464 is 90% full. When it is full, commands are rejected, or wait with WithBlockOnFull."},
		{name: "the queue of one node fills", alert: "AutopipeQueueSaturated", quiet: "2m", firing: "8m", node: "b:6379",
			input: []series{in(names.QueueDepth, "10x108", node("a:6379")), in(names.QueueDepth, "0x8 900x100", node("b:6379")),
				in(names.QueueLimit, "1000x108")},
			description: "The queue of pipe orders to b:6379 on shop-0:9464 is 90% full. When it is full, commands are rejected, or wait with WithBlockOnFull."},
		{name: "a queue half full", alert: "AutopipeQueueSaturated", quiet: "20m",
			input: []series{in(names.QueueDepth, "500x100"), in(names.QueueLimit, "1000x100")}},

		{name: "64 callers at once and every command alone", alert: "AutopipeBatchingIneffective", quiet: "29m", firing: "35m",
			input: []series{ok, in(names.Flushes, "0+15000x400", idle), in(names.Direct, "0x400", unknown),
				in(names.CommandDuration.Sum(), "0+960x400")},
			description: "Pipe orders on shop-0:9464 makes 1 round trips for each command."},
		{name: "most commands of a busy pipe go directly", alert: "AutopipeBatchingIneffective", quiet: "29m", firing: "35m",
			input: []series{in(names.Commands, "0+30000x400", ended(telemetry.OutcomeOK)), in(names.Flushes, "0+1500x400", idle),
				in(names.Direct, "0+27000x400", unknown), in(names.CommandDuration.Sum(), "0+15x400")},
			description: "Pipe orders on shop-0:9464 makes 950m round trips for each command."},
		{name: "few callers, who have nothing to share", alert: "AutopipeBatchingIneffective", quiet: "60m",
			input: []series{ok, in(names.Flushes, "0+15000x400", idle), in(names.Direct, "0x400", unknown), in(names.CommandDuration.Sum(), "0+60x400")}},

		{name: "every tenth command is sent again", alert: "AutopipeRetryStorm", quiet: "4m", firing: "10m", without: noInstance,
			input:       []series{ok, in(names.Retries, "0+1500x400", query.Is(names.Retries, telemetry.RetryTransport))},
			description: "10% of the commands of pipe orders are sent again."},
		{name: "a retry now and then on a quiet pipe", alert: "AutopipeRetryStorm", quiet: "60m",
			input: []series{in(names.Commands, "0+15x400", ended(telemetry.OutcomeOK)), in(names.Retries, "0+3x400", query.Is(names.Retries, telemetry.RetryDial))}},

		{name: "ten writes lose their reply", alert: "AutopipeUncertainWrites", quiet: "2m", firing: "10m", without: noInstance,
			input:       []series{ok, in(names.Commands, "0x20 10x380", ended(telemetry.OutcomeUncertain))},
			description: "About 10 writes of pipe orders lost their reply within 10 minutes; their callers got *UncertainError."},
		{name: "uncertain writes of an hour ago", alert: "AutopipeUncertainWrites", quiet: "60m",
			input: []series{ok, in(names.Commands, "0x20 10x380", ended(telemetry.OutcomeUncertain))}},

		{name: "commands are refused", alert: "AutopipeRejections", quiet: "1m", firing: "10m", without: noInstance,
			input:       []series{ok, in(names.Commands, "0+150x400", ended(telemetry.OutcomeRejected))},
			description: "10 commands a second of pipe orders are refused (ErrQueueFull)."},
		{name: "nothing is refused", alert: "AutopipeRejections", quiet: "60m",
			input: []series{ok, in(names.Commands, "0x400", ended(telemetry.OutcomeRejected))}},

		{name: "commands queue and none returns", alert: "AutopipeStalled", quiet: "5m", firing: "10m",
			input: []series{in(names.Commands, "0+15000x20 300000x380", ended(telemetry.OutcomeOK)),
				in(names.QueueDepth, "3x20 40x380"), in(names.InFlight, "2x400")},
			description: "42 commands or batches of pipe orders on shop-0:9464 have been waiting for two minutes while no command returned."},
		{name: "one node of two stalls", alert: "AutopipeStalled", quiet: "5m", firing: "10m", node: "b:6379",
			input: slices.Concat(
				[]series{in(names.Commands, "0+15000x400", ended(telemetry.OutcomeOK), node("a:6379")), in(names.QueueDepth, "9x400", node("a:6379")),
					in(names.InFlight, "2x400", node("a:6379"))},
				[]series{in(names.Commands, "0+15000x20 300000x380", ended(telemetry.OutcomeOK), node("b:6379")), in(names.QueueDepth, "9x400", node("b:6379")),
					in(names.InFlight, "2x400", node("b:6379"))}),
			description: "11 commands or batches of pipe orders to b:6379 on shop-0:9464 have been waiting for two minutes while no command returned."},
		{name: "a pipe at rest", alert: "AutopipeStalled", quiet: "60m",
			input: []series{in(names.Commands, "300000x400", ended(telemetry.OutcomeOK)), in(names.QueueDepth, "0x400"), in(names.InFlight, "0x400")}},
		{name: "always busy", alert: "AutopipeStalled", quiet: "60m",
			input: []series{ok, in(names.QueueDepth, "30x400"), in(names.InFlight, "2x400")}},

		{name: "the metrics of a job end", alert: "AutopipeTelemetryAbsent", quiet: "9m", firing: "25m", without: []string{query.LabelInstance, meter.LabelPipe},
			input:       []series{in(names.BuildInfo, "1x20 stale")},
			description: "No process of job shop exports autopipe's metrics, which it did within the last 6 hours."},
		{name: "one process of a job ends", alert: "AutopipeTelemetryAbsent", quiet: "25m",
			input: []series{in(names.BuildInfo, "1x20 stale"), {Series: names.BuildInfo.Name + `{job="shop", instance="shop-1:9464"}`, Values: "1x400"}}},

		{name: "two of a hundred commands get no answer", alert: "AutopipeErrorBudgetBurn", quiet: "1m", firing: "10m", without: noInstance, severity: critical,
			input:       []series{in(names.Commands, "0+14700x400", ended(telemetry.OutcomeOK)), in(names.Commands, "0+300x400", ended(telemetry.OutcomeTransportError))},
			description: "2% of the commands of pipe orders get no answer: the budget of 0.1 % for 30 days would be gone within days."},
		{name: "four of a thousand commands get no answer", alert: "AutopipeErrorBudgetBurn", quiet: "14m", firing: "20m", without: noInstance, severity: warning,
			input:       []series{in(names.Commands, "0+14940x400", ended(telemetry.OutcomeOK)), in(names.Commands, "0+60x400", ended(telemetry.OutcomeUncertain))},
			description: "0.4% of the commands of pipe orders get no answer: the budget of 0.1 % will not last for 30 days."},
		{name: "errors of the server are answers", alert: "AutopipeErrorBudgetBurn", quiet: "60m",
			input: []series{ok, in(names.Commands, "0+3000x400", ended(telemetry.OutcomeServerError)), in(names.Commands, "0+1x400", ended(telemetry.OutcomeRejected))}},
	}
}
