package prom

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// Observer counts for the hooks it is given to. Make one with New; it may serve any number of hooks.
type Observer struct {
	c      *collector
	source *meter.PoolSource
	err    error
}

var _ telemetry.Observer = (*Observer)(nil)

// New makes an observer whose metrics are registered with reg. If reg has some from an earlier New, the observer adds to
// them. A nil reg registers nothing: see Collector.
//
// It does not panic. If another collector has taken one of our names, the metrics are counted but not exported, and
// Err says why.
func New(reg prometheus.Registerer, opts ...Option) *Observer {
	var cfg config
	for _, o := range opts {
		if o != nil {
			o(&cfg)
		}
	}
	o := &Observer{c: newCollector()}
	if cfg.pool != nil {
		o.source = &meter.PoolSource{Read: cfg.pool}
	}
	if reg != nil {
		if err := reg.Register(o.c); err != nil {
			o.adopt(err)
		}
	}
	o.c.enable(cfg)
	return o
}

// adopt takes the collector that is registered already in place of the observer's own.
func (o *Observer) adopt(err error) {
	var already prometheus.AlreadyRegisteredError
	if errors.As(err, &already) {
		if c, ok := already.ExistingCollector.(*collector); ok {
			o.c = c
			return
		}
	}
	o.err = fmt.Errorf("prom: autopipe's metrics are not exported: %w", err)
}

// Err is not nil if the metrics could not be registered.
func (o *Observer) Err() error { return o.err }

// Collector is what exports the metrics, for a registry of your own making.
func (o *Observer) Collector() prometheus.Collector { return o.c }

// Attach implements telemetry.Observer.
func (o *Observer) Attach(p telemetry.Pipe) telemetry.Events { return o.c.meter.Attach(p, o.source) }
