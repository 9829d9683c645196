package otelpipe

import (
	"context"
	"net"
	"strconv"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// Option changes what an observer exports.
type Option func(*config)

type config struct {
	meters     metric.MeterProvider
	metersSet  bool
	tracers    trace.TracerProvider
	db         bool
	commands   bool
	exemplars  bool
	pool       func() *redis.PoolStats
	addr       string
	namespace  string
	attributes []attribute.KeyValue // db.system.name, and where the server is if the user told
}

func newConfig(opts []Option) config {
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	c.attributes = []attribute.KeyValue{semconv.DBSystemNameRedis}
	if c.namespace != "" {
		c.attributes = append(c.attributes, semconv.DBNamespace(c.namespace))
	}
	return c
}

// WithMeterProvider sets the provider of New's instruments. The default is the global one; nil means no metrics. A
// Producer has no use for it.
func WithMeterProvider(mp metric.MeterProvider) Option {
	return func(c *config) { c.meters, c.metersSet = mp, true }
}

// WithTracerProvider switches spans on. The default is none.
func WithTracerProvider(tp trace.TracerProvider) Option { return func(c *config) { c.tracers = tp } }

// WithDBConventions adds db.client.operation.duration, the histogram of OpenTelemetry's database conventions: one value
// for each command, direct ones included, as its caller saw it, by db.operation.name and error.type. Nil is no error.
// Its buckets are those of our own durations, which include the convention's and are finer below 1 ms.
func WithDBConventions() Option { return func(c *config) { c.db = true } }

// WithCommandNames adds the attribute command to autopipe.commands and autopipe.command.duration. Its values are the
// names in autopipe's command table, and "other".
func WithCommandNames() Option { return func(c *config) { c.commands = true } }

// WithExemplars lets a Producer attach the span of a sampled caller to the durations, one for each batch at most. With
// instruments that is the SDK's business: it is on unless the MeterProvider says otherwise.
func WithExemplars() Option { return func(c *config) { c.exemplars = true } }

// WithPoolStats exports the autopipe.pool metrics of the connection pool behind the hooks this observer is given to.
// stats, such as rdb.PoolStats, is called at each collection, as long as one of these hooks is in use.
func WithPoolStats(stats func() *redis.PoolStats) Option { return func(c *config) { c.pool = stats } }

// WithServer sets server.address and server.port of spans and of db.client.operation.duration, from host:port. A hook
// does not know its client's address; per-node lanes know theirs and need none.
func WithServer(addr string) Option { return func(c *config) { c.addr = addr } }

// WithDatabase sets db.namespace, the number of the client's database.
func WithDatabase(db int) Option { return func(c *config) { c.namespace = strconv.Itoa(db) } }

// server are the attributes of a lane's server: its node, or what the user told.
func (c *config) server(node string) []attribute.KeyValue {
	if node == "" {
		node = c.addr
	}
	if node == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(node)
	if err != nil {
		return []attribute.KeyValue{semconv.ServerAddress(node)}
	}
	kv := []attribute.KeyValue{semconv.ServerAddress(host)}
	if n, err := strconv.Atoi(port); err == nil {
		kv = append(kv, semconv.ServerPort(n))
	}
	return kv
}

func sampled(ctx context.Context) (meter.Trace, bool) {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsSampled() || !sc.IsValid() {
		return meter.Trace{}, false
	}
	return meter.Trace{TraceID: sc.TraceID(), SpanID: sc.SpanID()}, true
}
