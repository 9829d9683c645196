package otelpipe

import (
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"

	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// counts calls f for every value of a counter of traffic in one series.
func counts(m *meter.Metric, s *meter.Series, f func(attribute.Set, int64)) {
	points := func(n []atomic.Uint64, more ...attribute.KeyValue) {
		for i := range n {
			kv := more
			if m.Label != "" {
				kv = append(kv[:len(kv):len(kv)], attribute.String(m.Label, m.Values[i]))
			}
			f(series(s.Pipe, s.Node, kv...), int64(n[i].Load()))
		}
	}
	named := false
	if m.ByCommand {
		s.ByCommand(func(c *meter.CommandSeries) {
			named = true
			points(c.Counts(), attribute.String(meter.LabelCommand, c.Name))
		})
	}
	if !named {
		points(m.Counts(s))
	}
}

// gauges calls f for every value that a metric, a gauge or a pool's counter, has in one pipe.
func gauges(m *meter.Metric, st *meter.State, f func(attribute.Set, float64)) {
	pipe := attribute.String(meter.LabelPipe, st.Pipe)
	switch {
	case m.Value != nil:
		f(attribute.NewSet(pipe), m.Value(st))
	case m.NodeValue != nil:
		for _, n := range st.Nodes {
			f(series(st.Pipe, n.Node), m.NodeValue(n))
		}
	case m.PoolValue != nil:
		for i, name := range meter.PoolNames {
			if st.HasPool[i] {
				f(attribute.NewSet(pipe, attribute.String(meter.LabelPool, name)), m.PoolValue(&st.Pools[i]))
			}
		}
	case m == meter.ConfigInfo:
		for _, c := range st.Configs {
			f(attribute.NewSet(append(info(meter.ConfigLabels(c)), pipe)...), 1)
		}
	}
}
