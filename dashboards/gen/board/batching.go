package board

import (
	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/schema"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// batching shows how batches form: how large, how long commands queue for them, and why they leave.
func batching() *schema.Builder {
	pipe := "{{" + meter.LabelPipe + "}}"
	d := newDashboard("batching", "Batching", "How batches form: how large they get, how long commands queue for them, and why they leave.", variables()...)
	return d.
		WithPanel(heat(about{1, "Batch size", "Batches each second by their number of commands. A band at 1: commands travel alone. " +
			"A band at WithMaxBatch: the limit cuts batches.", none, 12, 9}, perSecond, live.SumRate(query.By(query.LabelLE), names.BatchSize.Bucket()))).
		WithPanel(heat(about{2, "Queue wait", "Commands each second by how long they waited for their batch to leave. " +
			"A band near the round trip is normal on a busy client; one far above it means that the queue is the bottleneck.", seconds, 12, 9},
			perSecond, live.SumRate(query.By(query.LabelLE), names.QueueWait.Bucket())).exemplars()).
		WithPanel(lines(about{3, "Commands per round trip", "Mean batch size of each pipe.", count, 8, 8},
			q("A", pipe, perRoundTrip(byPipe)))).
		WithPanel(lines(about{4, "Fill against the limit", "Mean batch size of each pipe as a share of WithMaxBatch. " +
			"Near 100 %, the limit decides when batches leave: raise it.", ratio, 8, 8},
			q("A", pipe, "("+perRoundTrip(byPipe)+") / on ("+meter.LabelPipe+") "+query.Agg("max", byPipe, live.Select(names.BatchLimit))))).
		WithPanel(lines(about{5, "Request bytes per batch", "Approximate bytes of the requests in a batch. Beyond WithMaxBatchBytes a batch is cut (reason bytes).", bytes, 8, 8},
			q("A", "p50", live.Quantile(0.5, all, names.BatchBytes)),
			q("B", "p99", live.Quantile(0.99, all, names.BatchBytes)),
			q("C", "mean", live.Mean(all, names.BatchBytes)))).
		WithPanel(lines(about{6, "Queue depth", "Commands that waited for a batch when Prometheus looked, by pipe. It looks seldom: " +
			"short queues between two looks do not show, the queue wait above has them all.", count, 8, 8},
			q("A", pipe, query.Agg("sum", byPipe, live.Select(names.QueueDepth))))).
		WithPanel(lines(about{7, "Queue depth against the limit", "Queued commands as a share of WithMaxQueue, the fullest node of each pipe. At 100 % commands are rejected, " +
			"or wait with WithBlockOnFull. The limit is that of one lane: a client with many (each Conn has its own) may pass it.", ratio, 8, 8},
			q("A", pipe, fill(byPipe))).AxisSoftMax(0.1)).
		WithPanel(lines(about{8, "Batches in flight", "Batches on their way when Prometheus looked, lone commands included, by pipe. " +
			"The more the longer the round trip; at WithMaxInFlight for each lane new commands queue.", count, 8, 8},
			q("A", pipe, query.Agg("sum", byPipe, live.Select(names.InFlight))))).
		WithPanel(flushColored(stacked(about{9, "Batches by flush reason", "Batches each second by why they left when they did; the text below explains the reasons.", perSecond, 12, 8},
			q("A", "{{"+meter.LabelReason+"}}", live.SumRate(byReason, names.Flushes))))).
		WithPanel(stacked(about{10, "Ways to the server", "Commands each second by how they travelled: in batches, directly (see Errors and retries " +
			"for why), or in the application's own pipelines, which pass unchanged.", commands, 12, 8},
			q("A", "batched", live.SumRate(all, names.BatchSize.Sum())),
			q("B", "direct", live.SumRate(all, names.Direct)),
			q("C", "own pipelines", live.SumRate(all, names.Pipelined)))).
		WithPanel(markdown(about{11, "What the reasons mean, and what to turn", "Each flush reason and the option that changes it.", none, 24, 9}, flushHelp()))
}
