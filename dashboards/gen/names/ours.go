// Package names are all metrics that the dashboards and rules use. Autopipe's come from its own catalogue, so that
// renaming one renames it here; those of other programs are spelt in foreign.go.
package names

import (
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// Autopipe's metrics.
var (
	Commands        = query.Ours(meter.Commands)
	Flushes         = query.Ours(meter.Flushes)
	Direct          = query.Ours(meter.Direct)
	Retries         = query.Ours(meter.Retries)
	BatchSize       = query.Ours(meter.BatchSize)
	BatchBytes      = query.Ours(meter.BatchBytes)
	QueueWait       = query.Ours(meter.QueueWait)
	BatchDuration   = query.Ours(meter.BatchDuration)
	CommandDuration = query.Ours(meter.CommandDuration)
	Pipelines       = query.Ours(meter.Pipelines)
	Pipelined       = query.Ours(meter.PipelinedCommands)
	QueueDepth      = query.Ours(meter.QueueDepth)
	QueueLimit      = query.Ours(meter.QueueLimit)
	InFlight        = query.Ours(meter.BatchesInFlight)
	BatchLimit      = query.Ours(meter.BatchLimit)
	ConfigInfo      = query.Ours(meter.ConfigInfo)
	BuildInfo       = query.Ours(meter.BuildInfo)
	PoolHits        = pool("autopipe.pool.hits")
	PoolMisses      = pool("autopipe.pool.misses")
	PoolTimeouts    = pool("autopipe.pool.timeouts")
	PoolWaits       = pool("autopipe.pool.waits")
	PoolWaitTime    = pool("autopipe.pool.wait.duration")
	PoolStale       = pool("autopipe.pool.stale")
	PoolConnections = pool("autopipe.pool.connections")
	PoolIdle        = pool("autopipe.pool.idle.connections")
)

// pool finds a pool metric by its OpenTelemetry name, as the catalogue has no variables for them.
func pool(name string) query.Metric {
	for _, m := range meter.PoolMetrics {
		if m.Name == name {
			return query.Ours(m)
		}
	}
	panic("no pool metric is called " + name)
}

// All are the metrics that a query may use: the whole catalogue and what is foreign.
func All() []query.Metric {
	var all []query.Metric
	for _, m := range meter.Catalogue {
		all = append(all, query.Ours(m))
	}
	return append(all, Foreign...)
}
