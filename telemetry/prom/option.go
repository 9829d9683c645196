package prom

import (
	"context"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// Option changes what New exports. Options of several observers on one registry add up.
type Option func(*config)

type config struct {
	meter  meter.Options
	native bool
	pool   func() *redis.PoolStats
}

// WithNativeHistograms exports each histogram as a native one too, with eight buckets for each doubling, which is at
// most 9 % off. A server that has native histograms on takes these and, unless it is told to scrape classic ones too,
// drops the classic buckets; any other server sees no difference.
func WithNativeHistograms() Option { return func(c *config) { c.native = true } }

// WithExemplars attaches the trace and span id of a sampled caller to the durations, one for each batch at most and
// the latest for each bucket. Spans are found in the callers' contexts, through the OpenTelemetry API. Prometheus takes
// exemplars over the OpenMetrics format only: promhttp.HandlerOpts{EnableOpenMetrics: true}.
func WithExemplars() Option { return func(c *config) { c.meter.Sampler = sampled } }

// WithCommandNames adds the label command to autopipe_commands_total and autopipe_command_duration_seconds. Its
// values are the names in autopipe's command table, as they are first used, and "other".
func WithCommandNames() Option { return func(c *config) { c.meter.Commands = true } }

// WithPoolStats exports the autopipe_pool_ metrics of the connection pool behind the hooks this observer is given to:
//
//	prom.New(reg, prom.WithPoolStats(rdb.PoolStats))
//
// stats is called at each collection, as long as one of these hooks is in use.
func WithPoolStats(stats func() *redis.PoolStats) Option { return func(c *config) { c.pool = stats } }

func sampled(ctx context.Context) (meter.Trace, bool) {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsSampled() || !sc.IsValid() {
		return meter.Trace{}, false
	}
	return meter.Trace{TraceID: sc.TraceID(), SpanID: sc.SpanID()}, true
}
