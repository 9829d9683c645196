package rules

import (
	"fmt"
	"strings"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// Runbook is the page that the alerts link to; each has a section of its name.
const Runbook = "https://github.com/goautopipe/redis-autopipe/blob/main/docs/runbook.md"

// budget is the share of commands that may be lost: the objective is 99.9 %.
const budget = 0.001

const (
	critical = "critical" // wake somebody
	warning  = "warning"  // look at it today
	info     = "info"     // something to improve
)

// alert makes an alert. dashboard is the one to open first.
func alert(name, severity, pending, dashboard, expr, summary, description string) Rule {
	return Rule{
		Alert: name, Expr: expr, For: pending, Labels: map[string]string{"severity": severity},
		Annotations: map[string]string{
			"summary": summary, "description": description,
			"runbook_url": Runbook + "#" + strings.ToLower(name), "dashboard": "autopipe-" + dashboard,
		},
	}
}

// Alerts are the alerts.
func Alerts() File {
	pipe := "{{ $labels." + meter.LabelPipe + " }}"
	instance := "{{ $labels." + query.LabelInstance + " }}"
	lane := pipe + "{{ with $labels." + meter.LabelNode + " }} to {{ . }}{{ end }} on " + instance
	return File{Groups: []Group{{Name: "autopipe-alerts", Rules: []Rule{
		alert("AutopipeQueueWaitHigh", warning, "10m", "batching", queueWaitHigh,
			"Commands wait long for their batch",
			"1 of 100 commands of pipe "+pipe+" waits longer than {{ $value | humanizeDuration }} for its batch to leave, and that is more than the round trip."),
		alert("AutopipeQueueSaturated", critical, "2m", "batching", queueSaturated,
			"A queue is nearly full",
			"The queue of pipe "+lane+" is {{ $value | humanizePercentage }} full. When it is full, commands are rejected, or wait with WithBlockOnFull."),
		alert("AutopipeBatchingIneffective", info, "30m", "batching", batchingIneffective,
			"Batching saves little although commands could share batches",
			"Pipe "+pipe+" on "+instance+" makes {{ $value | humanize }} round trips for each command."),
		alert("AutopipeRetryStorm", warning, "5m", "errors", retryStorm,
			"Many commands are sent again",
			"{{ $value | humanizePercentage }} of the commands of pipe "+pipe+" are sent again."),
		alert("AutopipeUncertainWrites", warning, "", "errors", uncertainWrites,
			"Writes may or may not have run",
			"About {{ $value | humanize }} writes of pipe "+pipe+" lost their reply within 10 minutes; their callers got *UncertainError."),
		alert("AutopipeRejections", critical, "2m", "errors", rejections,
			"Commands are refused because the queue is full",
			"{{ $value | humanize }} commands a second of pipe "+pipe+" are refused (ErrQueueFull)."),
		alert("AutopipeStalled", critical, "1m", "overview", stalled,
			"Commands are waiting and none returns",
			"{{ $value | humanize }} commands or batches of pipe "+lane+" have been waiting for two minutes while no command returned."),
		alert("AutopipeTelemetryAbsent", warning, "5m", "overview", telemetryAbsent,
			"A job no longer exports autopipe's metrics",
			"No process of job {{ $labels."+query.LabelJob+" }} exports autopipe's metrics, which it did within the last 6 hours."),
		alert("AutopipeErrorBudgetBurn", critical, "2m", "errors", burning(14.4, "1h", "5m", 6, "6h", "30m"),
			"The error budget goes fast",
			"{{ $value | humanizePercentage }} of the commands of pipe "+pipe+" get no answer: the budget of 0.1 % for 30 days would be gone within days."),
		alert("AutopipeErrorBudgetBurn", warning, "15m", "errors", burning(3, "1d", "2h", 1, "3d", "6h"),
			"The error budget goes steadily",
			"{{ $value | humanizePercentage }} of the commands of pipe "+pipe+" get no answer: the budget of 0.1 % will not last for 30 days."),
	}}}}
}

// The expressions of the alerts.
var (
	// On a slow link a command waits up to a round trip for a batch, which is as it should be.
	queueWaitHigh = lines(queueWaitP99+" > 0.05", "and "+on(byPipe)+" "+queueWaitP99+" > "+batchP50)

	queueSaturated = query.Agg("max", byLane, query.On(byProcess, names.QueueDepth.Name, names.QueueLimit.Name)) + " > 0.8"

	// A rate of seconds is how many callers wait at once (Little's law). With few of them there is nothing to share.
	batchingIneffective = lines(
		"("+over(window).SumRate(byProcess, names.Flushes)+" + "+over(window).SumRate(byProcess, names.Direct)+")",
		"/ "+over(window).SumRate(byProcess, names.Commands)+" > 0.7",
		"and "+on(byProcess)+" (",
		"  "+over(window).SumRate(byProcess, names.CommandDuration.Sum())+" > 32",
		"  or "+over(window).SumRate(byProcess, names.Direct)+" > 1000",
		")")

	retryStorm = lines(retryRatio+" > 0.05", "and "+on(byPipe)+" "+over(window).SumRate(byPipe, names.Retries)+" > 1")

	uncertainWrites = query.Agg("sum", byPipe, over("10m").Increase(names.Commands,
		query.Is(names.Commands, telemetry.OutcomeUncertain))) + " > 0"

	rejections = over(window).SumRate(byPipe, names.Commands, query.Is(names.Commands, telemetry.OutcomeRejected)) + " > 0"

	stalled = lines(
		"min_over_time("+over("2m").Over(names.QueueDepth)+") + min_over_time("+over("2m").Over(names.InFlight)+") > 0",
		"and "+on(byLane)+" "+over("2m").SumRate(byLane, names.Commands)+" == 0")

	telemetryAbsent = lines(
		query.Agg("count", query.By(query.LabelJob), "last_over_time("+over("6h").Over(names.BuildInfo)+")"),
		"unless "+on(query.By(query.LabelJob))+" "+query.Agg("count", query.By(query.LabelJob), names.BuildInfo.Name))
)

// burning says that the budget goes at a rate that would spend it too early: over a long window, so that a blip is no
// alarm, and still over a short one, so that the alarm ends soon after the trouble.
func burning(fast float64, long, short string, slow float64, longer, lessShort string) string {
	pair := func(rate float64, a, b string) string {
		return fmt.Sprintf("(%s > %g and %s %s > %g)", lostRatio(a), rate*budget, on(byPipe), lostRatio(b), rate*budget)
	}
	return lines(pair(fast, long, short), "or "+on(byPipe), pair(slow, longer, lessShort))
}
