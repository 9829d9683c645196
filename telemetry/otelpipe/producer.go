package otelpipe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// Producer is an Observer that an OpenTelemetry reader asks for its counts: a Producer of
// go.opentelemetry.io/otel/sdk/metric. Give it to hooks with autopipe.WithObserver and to one reader with
// metric.WithProducer.
type Producer struct {
	*Observer
	began time.Time
}

// NewProducer makes a Producer. See the package for what it bypasses.
func NewProducer(opts ...Option) *Producer {
	return &Producer{Observer: newObserver(newConfig(opts), true, true), began: time.Now()}
}

// Produce implements metric.Producer. It never fails.
func (p *Producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	now := time.Now()
	states := p.meter.Read()
	var list []metricdata.Metrics
	for _, m := range meter.Catalogue {
		var data metricdata.Aggregation
		switch {
		case m == meter.DBOperationDuration:
			data = p.durations(now)
		case m.Counts != nil:
			data = p.sum(m, states, now)
		case m.Distribution != nil:
			data = p.distributions(m, states, now)
		default:
			data = p.values(m, states, now)
		}
		if data != nil {
			list = append(list, metricdata.Metrics{Name: m.Name, Description: m.Help, Unit: m.Unit, Data: data})
		}
	}
	return []metricdata.ScopeMetrics{{
		Scope:   instrumentation.Scope{Name: scope, Version: meter.Version()},
		Metrics: list,
	}}, nil
}

func (p *Producer) sum(m *meter.Metric, states []*meter.State, now time.Time) metricdata.Aggregation {
	var points []metricdata.DataPoint[int64]
	for _, st := range states {
		for _, s := range st.Series {
			counts(m, s, func(set attribute.Set, n int64) {
				points = append(points, metricdata.DataPoint[int64]{Attributes: set, StartTime: s.Since, Time: now, Value: n})
			})
		}
	}
	if points == nil {
		return nil
	}
	return metricdata.Sum[int64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
}

func (p *Producer) values(m *meter.Metric, states []*meter.State, now time.Time) metricdata.Aggregation {
	var points []metricdata.DataPoint[float64]
	add := func(set attribute.Set, v float64) {
		points = append(points, metricdata.DataPoint[float64]{Attributes: set, StartTime: p.began, Time: now, Value: v})
	}
	if m == meter.BuildInfo {
		add(attribute.NewSet(info(meter.BuildLabels())...), 1)
	}
	for _, st := range states {
		gauges(m, st, add)
	}
	switch {
	case points == nil:
		return nil
	case m.Kind == meter.Counter:
		return metricdata.Sum[float64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
	}
	return metricdata.Gauge[float64]{DataPoints: points}
}

func (p *Producer) distributions(m *meter.Metric, states []*meter.State, now time.Time) metricdata.Aggregation {
	var points []metricdata.HistogramDataPoint[float64]
	for _, st := range states {
		for _, s := range st.Series {
			named := false
			if m.ByCommand {
				s.ByCommand(func(c *meter.CommandSeries) {
					named = true
					set := series(s.Pipe, s.Node, attribute.String(meter.LabelCommand, c.Name))
					points = append(points, point(c.Duration().Histogram, c.Duration().Exemplars(), set, s.Since, now))
				})
			}
			if !named {
				d := m.Distribution(s)
				points = append(points, point(d.Histogram, d.Exemplars(), series(s.Pipe, s.Node), s.Since, now))
			}
		}
	}
	if points == nil {
		return nil
	}
	return metricdata.Histogram[float64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality}
}

// durations are those of WithDBConventions.
func (p *Producer) durations(now time.Time) metricdata.Aggregation {
	if p.db == nil {
		return nil
	}
	var points []metricdata.HistogramDataPoint[float64]
	p.db.entries.each(func(_ dbKey, e *dbEntry) {
		points = append(points, point(e.histogram, nil, e.set, p.began, now))
	})
	if points == nil {
		return nil
	}
	return metricdata.Histogram[float64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality}
}

func point(h *histogram.Histogram, examples []meter.Exemplar, set attribute.Set, since, now time.Time) metricdata.HistogramDataPoint[float64] {
	s := h.Snapshot()
	p := metricdata.HistogramDataPoint[float64]{
		Attributes: set, StartTime: since, Time: now,
		Count: s.Count, Sum: s.Sum, Bounds: h.Layout().Bounds(), BucketCounts: s.Counts(nil),
	}
	for _, e := range examples {
		p.Exemplars = append(p.Exemplars, metricdata.Exemplar[float64]{
			Time: e.Time, Value: e.Value, SpanID: e.SpanID[:], TraceID: e.TraceID[:],
		})
	}
	return p
}
