package otelpipe

import (
	"context"

	"go.opentelemetry.io/otel"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// scope names this package to OpenTelemetry.
const scope = "github.com/goautopipe/redis-autopipe/telemetry/otelpipe"

// Observer exports for the hooks it is given to. Make one with New or NewProducer; it may serve any number of hooks.
type Observer struct {
	cfg    config
	meter  *meter.Meter // nil without metrics
	source *meter.PoolSource
	api    *instruments // nil in a Producer
	db     *dbTable     // nil without WithDBConventions
	spans  *spans       // nil without WithTracerProvider
}

var _ telemetry.Observer = (*Observer)(nil)

// New makes an observer that reports through the instruments of a MeterProvider. A provider that refuses an instrument
// is reported to otel.Handle; the rest goes on.
func New(opts ...Option) *Observer {
	cfg := newConfig(opts)
	if !cfg.metersSet {
		cfg.meters = otel.GetMeterProvider()
	}
	o := newObserver(cfg, cfg.meters != nil, false)
	if o.meter != nil {
		o.api = newInstruments(o, cfg.meters)
	}
	return o
}

func newObserver(cfg config, metrics, producer bool) *Observer {
	o := &Observer{cfg: cfg}
	if metrics {
		mo := meter.Options{Commands: cfg.commands}
		if producer && cfg.exemplars {
			mo.Sampler = sampled
		}
		o.meter = meter.New(mo)
		if cfg.pool != nil {
			o.source = &meter.PoolSource{Read: cfg.pool}
		}
		if cfg.db {
			o.db = newDBTable(&o.cfg)
		}
	}
	if cfg.tracers != nil {
		o.spans = newSpans(&o.cfg)
	}
	return o
}

// Attach implements telemetry.Observer.
func (o *Observer) Attach(p telemetry.Pipe) telemetry.Events {
	var parts []telemetry.Events
	if o.meter != nil {
		parts = append(parts, o.meter.Attach(p, o.source))
	}
	if o.api != nil {
		parts = append(parts, o.api.attach(p))
	}
	if o.db != nil {
		parts = append(parts, o.db.attach())
	}
	if o.spans != nil { // last, so that what the others do does not lengthen the spans
		parts = append(parts, o.spans.attach())
	}
	return join(parts)
}

// join makes one set of functions of several.
func join(parts []telemetry.Events) telemetry.Events {
	var all telemetry.Events
	for _, p := range parts {
		all.BatchEnd = both(all.BatchEnd, p.BatchEnd)
		all.Direct = both(all.Direct, p.Direct)
		all.Retry = both(all.Retry, p.Retry)
		all.Drop = both(all.Drop, p.Drop)
		all.Pipeline = both(all.Pipeline, p.Pipeline)
		if p.BatchStart != nil { // the spans' only
			all.BatchStart = p.BatchStart
		}
	}
	return all
}

func both[E any](f, g func(context.Context, *E)) func(context.Context, *E) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(ctx context.Context, e *E) {
		f(ctx, e)
		g(ctx, e)
	}
}
