package rules

import (
	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// window is the range of all rules but those of the error budget.
const window = "5m"

// burnWindows are the ranges over which the error budget is watched.
var burnWindows = []string{"5m", "30m", "1h", "2h", "6h", "1d", "3d"}

// lost are the outcomes that spend the error budget: no answer was had. A server's error is an answer, most often to a
// mistake of the application's own (WRONGTYPE) or a part of its work (NOSCRIPT before EVAL).
var lost = query.Is(names.Commands, telemetry.OutcomeTransportError, telemetry.OutcomeUncertain, telemetry.OutcomeRejected)

// name is a recorded metric's name: the labels that are left, the metric, what was done with it.
func name(stem, operation string) string { return "job_pipe:" + stem + ":" + operation }

// The recorded metrics.
var (
	commandRate     = name(names.Commands.Stem(), "rate"+window)
	perRoundTrip    = name(names.BatchSize.Name, "mean"+window)
	retryRatio      = name(names.Retries.Stem(), "per_command"+window)
	queueWaitP99    = name(names.QueueWait.Name, "p99_"+window)
	batchP50        = name(names.BatchDuration.Name, "p50_"+window)
	batchP99        = name(names.BatchDuration.Name, "p99_"+window)
	commandP99      = name(names.CommandDuration.Name, "p99_"+window)
	roundTripsSaved = name("autopipe_round_trips_saved", "rate"+window)
)

// lostRatio is the share of lost commands over a range.
func lostRatio(window string) string { return name(names.Commands.Stem(), "lost_ratio"+window) }

// Recording are the recording rules.
func Recording() File {
	r := over(window)
	group := Group{Name: "autopipe-recording", Interval: "30s", Rules: []Rule{
		{Record: commandRate, Expr: r.SumRate(byPipe, names.Commands)},
		{Record: perRoundTrip, Expr: r.Mean(byPipe, names.BatchSize)},
		{Record: roundTripsSaved, Expr: r.SumRate(byPipe, names.BatchSize.Sum()) + " - " + r.SumRate(byPipe, names.BatchSize.Count())},
		{Record: retryRatio, Expr: query.Div(r.SumRate(byPipe, names.Retries), r.SumRate(byPipe, names.Commands))},
		{Record: queueWaitP99, Expr: r.Quantile(0.99, byPipe, names.QueueWait)},
		{Record: batchP50, Expr: r.Quantile(0.5, byPipe, names.BatchDuration)},
		{Record: batchP99, Expr: r.Quantile(0.99, byPipe, names.BatchDuration)},
		{Record: commandP99, Expr: r.Quantile(0.99, byPipe, names.CommandDuration)},
	}}
	budget := Group{Name: "autopipe-error-budget", Interval: "30s"}
	for _, w := range burnWindows {
		budget.Rules = append(budget.Rules, Rule{Record: lostRatio(w),
			Expr: query.Div(over(w).SumRate(byPipe, names.Commands, lost), over(w).SumRate(byPipe, names.Commands))})
	}
	return File{Groups: []Group{group, budget}}
}
