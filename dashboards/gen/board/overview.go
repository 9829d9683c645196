package board

import (
	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/schema"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// overview answers in ten seconds: is it healthy, is batching worth it, and where does the time go?
func overview() *schema.Builder {
	d := newDashboard("overview", "Overview", "Is it healthy, is batching worth it, and where does the time go?", variables()...)
	headline(d)
	latency(d)
	return d.
		WithPanel(flushColored(stacked(about{9, "Why batches leave", "Share of each flush reason in all batches. " +
			"Mostly drain: the client is busy and batches follow each other. Mostly idle: commands rarely have company. " +
			"Much size or bytes: the limits cut batches.", ratio, 8, 8},
			q("A", "{{"+meter.LabelReason+"}}", share(names.Flushes))).Max(1))).
		WithPanel(outcomeColored(stacked(about{10, "Commands by outcome", "How commands ended, as their callers saw it. " +
			"nil (no such value) is no error.", commands, 8, 8},
			q("A", "{{"+meter.LabelOutcome+"}}", live.SumRate(query.By(meter.LabelOutcome), names.Commands))))).
		WithPanel(outcomeColored(lines(about{11, "Retries and losses", "Retries: commands sent again. Uncertain: writes whose reply was lost. " +
			"Cancelled: callers whose context ended first. Rejected: the queue was full. All are 0 on a quiet day.", perSecond, 8, 8},
			q("A", "retries", live.SumRate(all, names.Retries)),
			q("B", telemetry.OutcomeUncertain.String(), live.SumRate(all, names.Commands, outcome(telemetry.OutcomeUncertain))),
			q("C", telemetry.OutcomeCancelled.String(), live.SumRate(all, names.Commands, outcome(telemetry.OutcomeCancelled))),
			q("D", telemetry.OutcomeRejected.String(), live.SumRate(all, names.Commands, outcome(telemetry.OutcomeRejected)))))).
		WithPanel(pipes())
}

// headline is the row of figures at the top.
func headline(d *schema.Builder) {
	d.WithPanel(number(about{1, "Commands", "Commands that returned to their callers, each second.", commands, 4, 5},
		steps("blue"), live.SumRate(all, names.Commands)))
	d.WithPanel(number(about{2, "Commands per round trip", "Mean size of the batches: how many commands share one round trip. " +
		"1 is what a client without autopipe has.", count, 4, 5},
		steps("yellow", 1.5, "blue", 4.0, "green"), perRoundTrip(all)).Decimals(1))
	d.WithPanel(number(about{3, "Round trips saved", "Commands that travelled in batches less the batches, each second: " +
		"the round trips that a client without autopipe would make in addition.", requests, 4, 5},
		steps("green"), saved(all)))
	d.WithPanel(number(about{4, "Error ratio", "Share of commands that ended as server_error, transport_error, uncertain or rejected. " +
		"nil and cancelled are no errors.", ratio, 4, 5},
		steps("green", 0.001, "yellow", 0.01, "red"), errorRatio(all)).Decimals(2))
	d.WithPanel(number(about{5, "p99 as callers saw it", "99 of 100 commands took at most this long: queue wait, round trip and retries. " +
		"Direct commands are not in it.", seconds, 4, 5},
		steps("green", 0.01, "yellow", 0.1, "red"), live.Quantile(0.99, all, names.CommandDuration)).Decimals(2))
	d.WithPanel(number(about{6, "Fullest queue", "Queued commands against WithMaxQueue, of the fullest pipe. At 100 % commands are rejected, " +
		"or wait with WithBlockOnFull.", ratio, 4, 5},
		steps("green", 0.5, "yellow", 0.8, "red"), fill(all)).Decimals(1))
}

// latency splits where the time goes: in our queue, or on the way to the server and back.
func latency(d *schema.Builder) {
	for i, p := range []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		d.WithPanel(figures(colored(colored(overlay(stacked(about{uint32(7 + i), "Where the time goes, " + p.name,
			"Queue wait and round trip at this quantile, stacked; the line is a command as its caller saw it. " +
				"Quantiles do not add up: the line may leave the stack somewhat. " +
				"Much queue wait: see Batching. Much round trip: see Redis server and the network. A line far above it: retries.", seconds, 12, 8},
			traced("A", "queue wait", live.Quantile(p.q, all, names.QueueWait)),
			traced("B", "round trip", live.Quantile(p.q, all, names.BatchDuration)),
			traced("C", "as callers saw it", live.Quantile(p.q, all, names.CommandDuration))),
			"as callers saw it"), "queue wait", "orange"), "round trip", "blue")))
	}
}
