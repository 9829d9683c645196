package demo

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

// The demo's own metrics.
const (
	// MetricPhase is 1 for the phase that the load is in and 0 for the others, label phase.
	MetricPhase = "autopipe_demo_phase"
	// MetricOps counts the commands of each benchmark scenario, label scenario.
	MetricOps = "autopipe_demo_ops_total"
	// MetricBusy counts the seconds that each scenario ran: rate(MetricOps) / rate(MetricBusy) is its throughput.
	MetricBusy = "autopipe_demo_busy_seconds_total"
	// MetricFailures counts the units of a scenario that failed.
	MetricFailures = "autopipe_demo_failures_total"
	// MetricLatency is the latency in a scenario's last slot, as its callers saw it, label percentile (50 or 99). A unit
	// of a windowed scenario is a whole window.
	MetricLatency = "autopipe_demo_latency_seconds"
)

// ownMetrics are not autopipe's but the demo's.
type ownMetrics struct {
	phase               *prometheus.GaugeVec
	ops, busy, failures *prometheus.CounterVec
	latency             *prometheus.GaugeVec
}

func newOwnMetrics(reg prometheus.Registerer) *ownMetrics {
	const scenario = "scenario"
	m := &ownMetrics{
		phase: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: MetricPhase,
			Help: "1 for the phase that the demo load is in."}, []string{"phase"}),
		ops: prometheus.NewCounterVec(prometheus.CounterOpts{Name: MetricOps,
			Help: "Commands of a benchmark scenario that ran without an error."}, []string{scenario}),
		busy: prometheus.NewCounterVec(prometheus.CounterOpts{Name: MetricBusy,
			Help: "Seconds that a benchmark scenario ran."}, []string{scenario}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{Name: MetricFailures,
			Help: "Units of work of a benchmark scenario that failed."}, []string{scenario}),
		latency: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: MetricLatency,
			Help: "Latency in the last slot of a benchmark scenario, as its callers saw it."}, []string{scenario, "percentile"}),
	}
	reg.MustRegister(m.phase, m.ops, m.busy, m.failures, m.latency)
	m.enter(Healthy)
	return m
}

func (m *ownMetrics) enter(now Phase) {
	for p := range numPhases {
		v := 0.0
		if p == now {
			v = 1
		}
		m.phase.WithLabelValues(p.String()).Set(v)
	}
}

// ran notes what one slot of a scenario gave.
func (m *ownMetrics) ran(scenario string, r *load.Result) {
	m.ops.WithLabelValues(scenario).Add(float64(r.Executed))
	m.busy.WithLabelValues(scenario).Add(r.Elapsed.Seconds())
	m.failures.WithLabelValues(scenario).Add(float64(r.Failed))
	for q, name := range map[float64]string{0.5: "50", 0.99: "99"} {
		m.latency.WithLabelValues(scenario, name).Set(r.Latency.Quantile(q).Seconds())
	}
}
