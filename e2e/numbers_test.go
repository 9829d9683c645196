package e2e

import (
	"testing"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// numbers are what came out at the far end: by the name that the metric has in Prometheus, and by name and value of its
// own label. A histogram has its count under its name, and its sum under its name and "sum".
type numbers map[string]float64

func (n numbers) add(name, value string, v float64) {
	n[name] += v
	if value != "" {
		n[name+" "+value] += v
	}
}

// ownLabel is the key of a metric's own label, by the metric's name in Prometheus.
var ownLabel = func() map[string]string {
	m := map[string]string{}
	for _, c := range meter.Catalogue {
		m[c.Prometheus] = c.Label
	}
	return m
}()

// check compares what came out with the books, and with the hook's own Stats where callers cannot know.
func check(t *testing.T, who string, n numbers, b *books, h *autopipe.Hook) {
	t.Helper()
	stats := h.Stats()
	is := func(what string, want float64) {
		t.Helper()
		if n[what] != want {
			t.Errorf("%s: %s is %g, want %g", who, what, n[what], want)
		}
	}
	is("autopipe_commands_total", float64(b.commands))
	for o := range telemetry.NumOutcomes {
		name := telemetry.Outcome(o).String()
		is("autopipe_commands_total "+name, float64(b.outcomes[name]))
	}
	for r := range telemetry.NumDirectReasons {
		name := telemetry.DirectReason(r).String()
		is("autopipe_direct_total "+name, float64(b.direct[name]))
	}
	is("autopipe_pipelines_total", float64(b.pipelines))
	is("autopipe_pipelined_commands_total", float64(b.pipelined))
	is("autopipe_command_duration_seconds", n["autopipe_commands_total"]-n["autopipe_direct_total"]-n["autopipe_commands_total rejected"])
	is("autopipe_batch_size sum", float64(stats.Commands))
	is("autopipe_queue_wait_duration_seconds", float64(stats.Commands))
	is("autopipe_batch_bytes sum", float64(stats.Bytes))
	for _, hist := range []string{"autopipe_batch_size", "autopipe_batch_bytes", "autopipe_batch_duration_seconds"} {
		is(hist, float64(stats.Batches))
	}
	is("autopipe_flushes_total", float64(stats.Batches))
	for reason, count := range stats.Flushes {
		is("autopipe_flushes_total "+reason, float64(count))
	}
	if n["autopipe_batch_size sum"] < 2*n["autopipe_batch_size"] {
		t.Errorf("%s: %g commands in %g batches: hardly anything was shared, so little was tested", who, n["autopipe_batch_size sum"], n["autopipe_batch_size"])
	}
}
