package otelpipe

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// instruments reports through the OpenTelemetry API. Counters and gauges are observable: a callback reads them from the
// meter. The API has no observable histogram, so those take a Record for each value.
type instruments struct {
	batchSize, batchBytes                     metric.Int64Histogram
	queueWait, batchDuration, commandDuration metric.Float64Histogram
	byCommand                                 bool
}

func newInstruments(o *Observer, mp metric.MeterProvider) *instruments {
	m := mp.Meter(scope, metric.WithInstrumentationVersion(meter.Version()))
	observe(o, m)
	if o.db != nil {
		o.db.record = floats(m, meter.DBOperationDuration)
	}
	return &instruments{
		batchSize:       ints(m, meter.BatchSize),
		batchBytes:      ints(m, meter.BatchBytes),
		queueWait:       floats(m, meter.QueueWait),
		batchDuration:   floats(m, meter.BatchDuration),
		commandDuration: floats(m, meter.CommandDuration),
		byCommand:       o.cfg.commands,
	}
}

func ints(m metric.Meter, e *meter.Metric) metric.Int64Histogram {
	h, err := m.Int64Histogram(e.Name, metric.WithDescription(e.Help), metric.WithUnit(e.Unit),
		metric.WithExplicitBucketBoundaries(e.Layout.Bounds()...))
	if err != nil {
		otel.Handle(err)
		if h == nil {
			h = noop.Int64Histogram{}
		}
	}
	return h
}

func floats(m metric.Meter, e *meter.Metric) metric.Float64Histogram {
	h, err := m.Float64Histogram(e.Name, metric.WithDescription(e.Help), metric.WithUnit(e.Unit),
		metric.WithExplicitBucketBoundaries(e.Layout.Bounds()...))
	if err != nil {
		otel.Handle(err)
		if h == nil {
			h = noop.Float64Histogram{}
		}
	}
	return h
}

// observe registers the counters and gauges, with one callback for all.
func observe(o *Observer, m metric.Meter) {
	counters := map[*meter.Metric]metric.Int64ObservableCounter{}
	values := map[*meter.Metric]metric.Float64Observable{}
	var all []metric.Observable
	for _, e := range meter.Catalogue {
		var i metric.Observable
		var err error
		switch {
		case e.Counts != nil:
			counters[e], err = m.Int64ObservableCounter(e.Name, metric.WithDescription(e.Help), metric.WithUnit(e.Unit))
			i = counters[e]
		case e.Kind == meter.Gauge:
			values[e], err = m.Float64ObservableGauge(e.Name, metric.WithDescription(e.Help), metric.WithUnit(e.Unit))
			i = values[e]
		case e.PoolValue != nil:
			values[e], err = m.Float64ObservableCounter(e.Name, metric.WithDescription(e.Help), metric.WithUnit(e.Unit))
			i = values[e]
		default:
			continue
		}
		if err != nil {
			otel.Handle(err)
			delete(counters, e)
			delete(values, e)
			continue
		}
		all = append(all, i)
	}
	_, err := m.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		if i := values[meter.BuildInfo]; i != nil {
			to.ObserveFloat64(i, 1, metric.WithAttributes(info(meter.BuildLabels())...))
		}
		for _, st := range o.meter.Read() {
			for e, i := range counters {
				for _, s := range st.Series {
					counts(e, s, func(set attribute.Set, n int64) { to.ObserveInt64(i, n, metric.WithAttributeSet(set)) })
				}
			}
			for e, i := range values {
				gauges(e, st, func(set attribute.Set, v float64) { to.ObserveFloat64(i, v, metric.WithAttributeSet(set)) })
			}
		}
		return nil
	}, all...)
	if err != nil {
		otel.Handle(err)
	}
}

// recorder records the histograms of one hook. Its options are made once for each series, since making them costs
// several times what recording does.
type recorder struct {
	*instruments
	pipe   string
	nodes  nodeSet
	series table[recordKey, []metric.RecordOption]
}

type recordKey struct{ node, command string }

func (i *instruments) attach(p telemetry.Pipe) telemetry.Events {
	r := &recorder{instruments: i, pipe: p.Name}
	return telemetry.Events{BatchEnd: r.batchEnd, Drop: r.drop}
}

func (r *recorder) options(node, command string) []metric.RecordOption {
	return r.series.get(recordKey{node, command}, r.newOptions)
}

func (r *recorder) newOptions(k recordKey) []metric.RecordOption {
	var more []attribute.KeyValue
	if k.command != "" {
		more = append(more, attribute.String(meter.LabelCommand, k.command))
	}
	return []metric.RecordOption{metric.WithAttributeSet(series(r.pipe, k.node, more...))}
}

func (r *recorder) named(node, name string) []metric.RecordOption {
	if !r.byCommand {
		return r.options(node, "")
	}
	if command.Lookup(name) == nil {
		name = meter.Other
	}
	return r.options(node, name)
}

func (r *recorder) batchEnd(ctx context.Context, b *telemetry.Batch) {
	if !r.queueWait.Enabled(ctx) && !r.commandDuration.Enabled(ctx) && !r.batchSize.Enabled(ctx) {
		return
	}
	node := r.nodes.bound(b.Node)
	o := r.options(node, "")
	r.batchSize.Record(ctx, int64(len(b.Commands)), o...)
	r.batchBytes.Record(ctx, int64(b.Bytes), o...)
	r.batchDuration.Record(ctx, b.RoundTrip.Seconds(), o...)
	for i := range b.Commands {
		c := &b.Commands[i]
		r.queueWait.Record(c.Context, c.Wait.Seconds(), o...)
		if !c.Again && !c.Left {
			r.commandDuration.Record(c.Context, meter.Duration(b, c).Seconds(), r.named(node, c.Name)...)
		}
	}
}

func (r *recorder) drop(ctx context.Context, d *telemetry.Drop) {
	if d.Outcome != telemetry.OutcomeRejected {
		r.commandDuration.Record(ctx, d.Waited.Seconds(), r.named(r.nodes.bound(d.Node), d.Name)...)
	}
}
