package board

import (
	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/schema"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// errorsAndRetries shows what went wrong, and what did not travel in batches.
func errorsAndRetries() *schema.Builder {
	d := newDashboard("errors", "Errors and retries", "What failed and how, what was sent again and why, and what did not travel in batches.", variables()...)
	troubles(d)
	pipe := "{{" + meter.LabelPipe + "}}"
	d.WithPanel(figuresRight(outcomeColored(stacked(about{7, "Commands without a value", "Everything but ok and nil, by outcome.", perSecond, 12, 9},
		q("A", "{{"+meter.LabelOutcome+"}}", live.SumRate(query.By(meter.LabelOutcome), names.Commands,
			query.Is(names.Commands, stringers(telemetry.OutcomeServerError, telemetry.OutcomeTransportError, telemetry.OutcomeUncertain,
				telemetry.OutcomeCancelled, telemetry.OutcomeRejected)...)))))))
	d.WithPanel(figuresRight(stacked(about{8, "Retries by cause", "Decisions to send one command again, by the failure behind them. Each is for one command, never for a batch.", perSecond, 12, 9},
		q("A", "{{"+meter.LabelCause+"}}", live.SumRate(query.By(meter.LabelCause), names.Retries)))))
	for _, p := range []struct {
		id    uint32
		title string
		o     telemetry.Outcome
		help  string
	}{
		{9, "Uncertain writes", telemetry.OutcomeUncertain, "Writes that were sent and whose reply was lost: they may have run, and are not sent again. By pipe."},
		{10, "Cancelled", telemetry.OutcomeCancelled, "Commands whose caller's context ended first, by pipe."},
		{11, "Rejected", telemetry.OutcomeRejected, "Commands refused because the queue was full (ErrQueueFull), by pipe."},
	} {
		d.WithPanel(lines(about{p.id, p.title, p.help, perSecond, 8, 8}, q("A", pipe, live.SumRate(byPipe, names.Commands, outcome(p.o)))))
	}
	d.
		WithPanel(figuresRight(stacked(about{12, "Direct commands by reason", "Commands that did not queue but went to the server on their own. " +
			"unknown and module can join batches: WithBatched.", commands, 12, 9},
			q("A", "{{"+meter.LabelReason+"}}", live.SumRate(byReason, names.Direct))))).
		WithPanel(lines(about{13, "Connection pool: waits and failures", "Requests for a connection that found none idle (misses), waited, or gave up (timeouts), " +
			"and connections that were too old or broken (stale). Needs WithPoolStats.", perSecond, 12, 9},
			q("A", "misses", live.SumRate(all, names.PoolMisses)),
			q("B", "waits", live.SumRate(all, names.PoolWaits)),
			q("C", "timeouts", live.SumRate(all, names.PoolTimeouts)),
			q("D", "stale", live.SumRate(all, names.PoolStale))))
	for i, w := range words() {
		d.WithPanel(markdown(about{uint32(14 + i), w.title, "What the values mean, in the words of package telemetry.", none, 8, 19}, w.text))
	}
	return d
}

// troubles is the row of figures at the top.
func troubles(d *schema.Builder) {
	d.WithPanel(number(about{1, "Error ratio", "Share of commands that ended as server_error, transport_error, uncertain or rejected.", ratio, 4, 5},
		steps("green", 0.001, "yellow", 0.01, "red"), errorRatio(all)).Decimals(2))
	d.WithPanel(number(about{2, "Retries per command", "Sendings beyond the first, as a share of all commands.", ratio, 4, 5},
		steps("green", 0.01, "yellow", 0.05, "red"), query.Div(live.SumRate(all, names.Retries), live.SumRate(all, names.Commands))).Decimals(2))
	for _, p := range []struct {
		id    uint32
		title string
		o     telemetry.Outcome
		color string
	}{
		{3, "Server errors", telemetry.OutcomeServerError, "yellow"},
		{4, "Transport errors", telemetry.OutcomeTransportError, "red"},
		{5, "Uncertain writes", telemetry.OutcomeUncertain, "red"},
		{6, "Rejected", telemetry.OutcomeRejected, "red"},
	} {
		d.WithPanel(number(about{p.id, p.title, p.o.Doc(), perSecond, 4, 5},
			steps("green", 1e-9, p.color), live.SumRate(all, names.Commands, outcome(p.o))))
	}
}
