package prom

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// collector makes metrics from the counts of a meter at each collection. It describes the same metrics whatever the
// options, so that a registry recognises a second one as the same.
type collector struct {
	meter  *meter.Meter
	native atomic.Bool
}

func newCollector() *collector { return &collector{meter: meter.New(meter.Options{})} }

func (c *collector) enable(cfg config) {
	if cfg.native {
		c.native.Store(true)
	}
	c.meter.Enable(cfg.meter)
}

// desc pairs a metric of the catalogue with its description for Prometheus.
type desc struct {
	*meter.Metric
	*prometheus.Desc
}

func (d desc) valueType() prometheus.ValueType {
	if d.Kind == meter.Counter {
		return prometheus.CounterValue
	}
	return prometheus.GaugeValue
}

// descs are all metrics of the catalogue but those that another package makes.
var descs, configInfo, buildInfo = describe()

func describe() (all []desc, config, build desc) {
	for _, m := range meter.Catalogue {
		if m == meter.DBOperationDuration {
			continue
		}
		d := desc{m, prometheus.NewDesc(m.Prometheus, m.Help, labels(m), nil)}
		switch m {
		case meter.ConfigInfo:
			config = d
		case meter.BuildInfo:
			build = d
		default:
			all = append(all, d)
		}
	}
	return all, config, build
}

// labels are the keys of a metric's labels, in the order in which values are given.
func labels(m *meter.Metric) []string {
	switch {
	case m == meter.BuildInfo:
		return keys(meter.BuildLabels())
	case m == meter.ConfigInfo:
		return append([]string{meter.LabelPipe}, keys(meter.ConfigLabels(telemetry.Pipe{}))...)
	case m.Value != nil:
		return []string{meter.LabelPipe}
	case m.NodeValue != nil:
		return []string{meter.LabelPipe, meter.LabelNode}
	case m.PoolValue != nil:
		return []string{meter.LabelPipe, meter.LabelPool}
	}
	keys := []string{meter.LabelPipe, meter.LabelNode}
	if m.Label != "" {
		keys = append(keys, m.Label)
	}
	if m.ByCommand { // empty, which to Prometheus is the same as absent, unless it is asked for
		keys = append(keys, meter.LabelCommand)
	}
	return keys
}

func keys(labels []meter.InfoLabel) []string {
	var k []string
	for _, l := range labels {
		k = append(k, l.Key)
	}
	return k
}

func values(labels []meter.InfoLabel) []string {
	var v []string
	for _, l := range labels {
		v = append(v, l.Value)
	}
	return v
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range descs {
		ch <- d.Desc
	}
	ch <- configInfo.Desc
	ch <- buildInfo.Desc
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(buildInfo.Desc, prometheus.GaugeValue, 1, values(meter.BuildLabels())...)
	for _, state := range c.meter.Read() {
		for _, cfg := range state.Configs {
			ch <- prometheus.MustNewConstMetric(configInfo.Desc, prometheus.GaugeValue, 1,
				append([]string{state.Pipe}, values(meter.ConfigLabels(cfg))...)...)
		}
		for _, d := range descs {
			c.collect(ch, d, state)
		}
	}
}

func (c *collector) collect(ch chan<- prometheus.Metric, d desc, state *meter.State) {
	switch {
	case d.Value != nil:
		ch <- prometheus.MustNewConstMetric(d.Desc, prometheus.GaugeValue, d.Value(state), state.Pipe)
	case d.NodeValue != nil:
		for _, n := range state.Nodes {
			ch <- prometheus.MustNewConstMetric(d.Desc, prometheus.GaugeValue, d.NodeValue(n), state.Pipe, n.Node)
		}
	case d.PoolValue != nil:
		for i, name := range meter.PoolNames {
			if state.HasPool[i] {
				ch <- prometheus.MustNewConstMetric(d.Desc, d.valueType(), d.PoolValue(&state.Pools[i]), state.Pipe, name)
			}
		}
	default:
		for _, s := range state.Series {
			c.traffic(ch, d, s)
		}
	}
}

// traffic collects one metric of one series, for all its commands together or for each.
func (c *collector) traffic(ch chan<- prometheus.Metric, d desc, s *meter.Series) {
	named := false
	if d.ByCommand {
		s.ByCommand(func(cmd *meter.CommandSeries) {
			named = true
			if d.Counts != nil {
				counts(ch, d, cmd.Counts(), s, cmd.Name)
			} else {
				ch <- c.histogram(d, cmd.Duration(), s, cmd.Name)
			}
		})
	}
	switch {
	case named:
	case d.Counts != nil && d.ByCommand:
		counts(ch, d, d.Counts(s), s, "")
	case d.Counts != nil:
		counts(ch, d, d.Counts(s), s)
	case d.ByCommand:
		ch <- c.histogram(d, d.Distribution(s), s, "")
	default:
		ch <- c.histogram(d, d.Distribution(s), s)
	}
}

// counts collects a counter, one for each value of its label.
func counts(ch chan<- prometheus.Metric, d desc, n []atomic.Uint64, s *meter.Series, more ...string) {
	for i := range n {
		v := []string{s.Pipe, s.Node}
		if d.Label != "" {
			v = append(v, d.Values[i])
		}
		ch <- prometheus.MustNewConstMetric(d.Desc, prometheus.CounterValue, float64(n[i].Load()), append(v, more...)...)
	}
}
