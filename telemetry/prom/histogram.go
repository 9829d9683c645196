package prom

import (
	"encoding/hex"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// histogram makes the metric for the present state of a distribution.
func (c *collector) histogram(d desc, dist *meter.Distribution, s *meter.Series, more ...string) prometheus.Metric {
	labels := append([]string{s.Pipe, s.Node}, more...)
	snap := dist.Snapshot()
	bounds := dist.Layout().Bounds()
	buckets := make(map[float64]uint64, len(bounds))
	for i, n := range snap.Cumulative(nil) {
		buckets[bounds[i]] = n
	}
	m := prometheus.MustNewConstHistogram(d.Desc, snap.Count, snap.Sum, buckets, labels...)
	if c.native.Load() {
		m = dual{m, native(d, snap, s, labels)}
	}
	if examples := dist.Exemplars(); len(examples) > 0 {
		list := make([]prometheus.Exemplar, len(examples))
		for i, e := range examples {
			list[i] = prometheus.Exemplar{Value: e.Value, Timestamp: e.Time, Labels: prometheus.Labels{
				"trace_id": hex.EncodeToString(e.TraceID[:]), "span_id": hex.EncodeToString(e.SpanID[:]),
			}}
		}
		m = prometheus.MustNewMetricWithExemplars(m, list...)
	}
	return m
}

// native makes the same histogram with exponential buckets.
func native(d desc, snap *histogram.Snapshot, s *meter.Series, labels []string) prometheus.Metric {
	buckets := map[int]int64{}
	snap.Exponential(func(i int, n uint64) { buckets[i] = int64(n) })
	return prometheus.MustNewConstNativeHistogram(d.Desc, snap.Count, snap.Sum, buckets, nil, 0, histogram.Schema,
		prometheus.DefNativeHistogramZeroThreshold, s.Since, labels...)
}

// dual is a histogram with classic and native buckets. client_golang has no constructor for a constant one.
type dual struct {
	prometheus.Metric
	native prometheus.Metric
}

// Write implements prometheus.Metric.
func (d dual) Write(out *dto.Metric) error {
	if err := d.native.Write(out); err != nil {
		return err
	}
	var classic dto.Metric
	if err := d.Metric.Write(&classic); err != nil {
		return err
	}
	out.Histogram.Bucket = classic.Histogram.Bucket
	return nil
}
