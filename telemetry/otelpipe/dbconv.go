package otelpipe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// dbTable holds db.client.operation.duration: a histogram for each command and error seen.
type dbTable struct {
	cfg     *config
	nodes   nodeSet
	entries table[dbKey, *dbEntry]
	record  metric.Float64Histogram // nil in a Producer, which reads the entries' own histograms
}

// dbKey has only values of closed sets, but for the node.
type dbKey struct {
	node    string
	command string // upper case, or "" if it is not in the command table
	errType string
	code    string
}

type dbEntry struct {
	set       attribute.Set
	options   []metric.RecordOption
	histogram *histogram.Histogram // nil with instruments
}

func newDBTable(cfg *config) *dbTable { return &dbTable{cfg: cfg} }

func (t *dbTable) create(k dbKey) *dbEntry {
	kv := append(append([]attribute.KeyValue{}, t.cfg.attributes...), t.cfg.server(k.node)...)
	if k.command != "" {
		kv = append(kv, semconv.DBOperationName(k.command))
	}
	if k.errType != "" {
		kv = append(kv, semconv.ErrorTypeKey.String(k.errType))
	}
	if k.code != "" {
		kv = append(kv, semconv.DBResponseStatusCode(k.code))
	}
	e := &dbEntry{set: attribute.NewSet(kv...)}
	e.options = []metric.RecordOption{metric.WithAttributeSet(e.set)}
	if t.record == nil {
		e.histogram = histogram.New(histogram.Seconds)
	}
	return e
}

func (t *dbTable) attach() telemetry.Events {
	return telemetry.Events{BatchEnd: t.batchEnd, Direct: t.direct, Drop: t.drop}
}

// entry finds the histogram of a command that ended so.
func (t *dbTable) entry(node, name string, o telemetry.Outcome, err error) *dbEntry {
	k := dbKey{node: t.nodes.bound(node), command: meter.CommandName(name)}
	if o != telemetry.OutcomeOK && o != telemetry.OutcomeNil {
		k.errType, k.code = meter.ErrorType(o, err)
	}
	return t.entries.get(k, t.create)
}

func (t *dbTable) observe(ctx context.Context, e *dbEntry, d time.Duration) {
	if t.record != nil {
		t.record.Record(ctx, d.Seconds(), e.options...)
		return
	}
	e.histogram.Observe(int64(d))
}

func (t *dbTable) batchEnd(ctx context.Context, b *telemetry.Batch) {
	if t.record != nil && !t.record.Enabled(ctx) {
		return
	}
	var last *dbEntry // of the command before, if it went well: a batch often holds one command many times over
	name := ""
	for i := range b.Commands {
		c := &b.Commands[i]
		if c.Again || c.Left {
			continue
		}
		e := last
		if good := c.Outcome == telemetry.OutcomeOK || c.Outcome == telemetry.OutcomeNil; !good {
			e = t.entry(b.Node, c.Name, c.Outcome, c.Err)
		} else if last == nil || c.Name != name {
			e = t.entry(b.Node, c.Name, c.Outcome, nil)
			last, name = e, c.Name
		}
		t.observe(c.Context, e, meter.Duration(b, c))
	}
}

func (t *dbTable) direct(ctx context.Context, d *telemetry.Direct) {
	t.observe(ctx, t.entry(d.Node, d.Name, d.Outcome, d.Err), d.Duration)
}

func (t *dbTable) drop(ctx context.Context, d *telemetry.Drop) {
	t.observe(ctx, t.entry(d.Node, d.Name, d.Outcome, ctx.Err()), d.Waited)
}
