package board

import (
	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// failed are the outcomes that count as errors: the caller got neither a value nor redis.Nil, and did not leave itself.
var failed = query.Is(names.Commands, stringers(telemetry.OutcomeServerError, telemetry.OutcomeTransportError,
	telemetry.OutcomeUncertain, telemetry.OutcomeRejected)...)

func outcome(o telemetry.Outcome) query.Match { return query.Is(names.Commands, o) }

// errorRatio is the share of commands that failed.
func errorRatio(by []string) string {
	return query.Div(live.SumRate(by, names.Commands, failed), live.SumRate(by, names.Commands))
}

// perRoundTrip is how many commands share one round trip.
func perRoundTrip(by []string) string { return live.Mean(by, names.BatchSize) }

// saved is how many round trips a second batching spares.
func saved(by []string) string {
	return live.SumRate(by, names.BatchSize.Sum()) + " - " + live.SumRate(by, names.BatchSize.Count())
}

// share is the part of each value of a label in the whole.
func share(m query.Metric) string {
	return query.Div(live.SumRate(query.By(m.Own), m), "ignoring("+m.Own+") group_left "+live.SumRate(nil, m))
}

// fill is how full the queues are, the fullest first.
func fill(by []string) string {
	owner := query.By(query.LabelJob, query.LabelInstance, meter.LabelPipe) // a limit is for each of its nodes
	return query.Agg("max", by, query.On(owner, live.Select(names.QueueDepth), live.Select(names.QueueLimit)))
}
