// Package query writes PromQL from metrics, so that dashboards and rules spell no name themselves.
package query

import (
	"slices"
	"strings"

	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// The labels that Prometheus itself puts on what it scrapes, and the one of histogram buckets.
const (
	LabelJob      = "job"
	LabelInstance = "instance"
	LabelLE       = "le"
)

// Metric is a metric as queries see it.
type Metric struct {
	Name   string // in Prometheus; of a histogram without _bucket, _sum, _count
	Kind   meter.Kind
	Help   string
	Labels []string // besides job and instance
	// Own is the label with a closed set of values, "" if there is none.
	Own    string
	Values []string
}

// Ours is a metric of autopipe's catalogue.
func Ours(m *meter.Metric) Metric {
	return Metric{Name: m.Prometheus, Kind: m.Kind, Help: m.Help, Labels: labels(m), Own: m.Label, Values: m.Values}
}

// labels are a metric's labels as telemetry/prom exports them; a test holds them to it.
func labels(m *meter.Metric) []string {
	switch {
	case m == meter.BuildInfo:
		return keys(meter.BuildLabels())
	case m == meter.ConfigInfo:
		return append([]string{meter.LabelPipe}, keys(meter.ConfigLabels(noPipe))...)
	case m.Value != nil:
		return []string{meter.LabelPipe}
	case m.NodeValue != nil:
		return []string{meter.LabelPipe, meter.LabelNode}
	case m.PoolValue != nil:
		return []string{meter.LabelPipe, meter.LabelPool}
	}
	l := []string{meter.LabelPipe, meter.LabelNode}
	if m.Label != "" {
		l = append(l, m.Label)
	}
	if m.ByCommand {
		l = append(l, meter.LabelCommand)
	}
	return l
}

func keys(labels []meter.InfoLabel) []string {
	var k []string
	for _, l := range labels {
		k = append(k, l.Key)
	}
	return k
}

// has says whether a metric carries a label.
func (m Metric) has(label string) bool {
	return label == LabelJob || label == LabelInstance || slices.Contains(m.Labels, label)
}

// series is a series of a metric: the metric itself, or one part of a histogram.
func (m Metric) series(suffix string) Metric {
	if m.Kind != meter.Histogram {
		panic(m.Name + " is no histogram")
	}
	m.Name += suffix
	return m
}

// Bucket, Sum and Count are the parts of a histogram.
func (m Metric) Bucket() Metric { return m.series("_bucket") }

// Sum is the sum of what a histogram has seen.
func (m Metric) Sum() Metric { return m.series("_sum") }

// Count is how many values a histogram has seen.
func (m Metric) Count() Metric { return m.series("_count") }

// Stem is the name without what tells its kind, for the names of recording rules.
func (m Metric) Stem() string { return strings.TrimSuffix(m.Name, "_total") }
