package meter

import "github.com/redis/go-redis/v9"

// Pool is the state of a connection pool.
type Pool = redis.PoolStats

// PoolSource reads the state of one client's pool. Attach counts a source once for each pipe, however many hooks of the
// pipe came with it.
type PoolSource struct{ Read func() *redis.PoolStats }

// PoolNames are the values of LabelPool: a client's main pool, and the one for pipelines if it has one.
var PoolNames = [...]string{"main", "pipeline"}

func pool(name, prometheus, unit string, kind Kind, help, promQL string, value func(*Pool) float64) *Metric {
	return &Metric{
		Name: "autopipe.pool." + name, Prometheus: "autopipe_pool_" + prometheus, Unit: unit, Kind: kind,
		Help: help, PromQL: promQL, OptIn: "WithPoolStats", Label: LabelPool, Values: PoolNames[:], PoolValue: value,
	}
}

// PoolMetrics are the metrics of connection pools.
var PoolMetrics = []*Metric{
	pool("hits", "hits_total", "{request}", Counter, "Requests for a connection that found an idle one.",
		`rate(autopipe_pool_hits_total[5m]) / (rate(autopipe_pool_hits_total[5m]) + rate(autopipe_pool_misses_total[5m]))`,
		func(p *Pool) float64 { return float64(p.Hits) }),
	pool("misses", "misses_total", "{request}", Counter, "Requests for a connection that found none idle.",
		`rate(autopipe_pool_misses_total[5m])`,
		func(p *Pool) float64 { return float64(p.Misses) }),
	pool("timeouts", "timeouts_total", "{request}", Counter, "Requests for a connection that gave up waiting.",
		`rate(autopipe_pool_timeouts_total[5m])`,
		func(p *Pool) float64 { return float64(p.Timeouts) }),
	pool("waits", "waits_total", "{request}", Counter, "Requests that waited for a connection.",
		`rate(autopipe_pool_waits_total[5m])`,
		func(p *Pool) float64 { return float64(p.WaitCount) }),
	pool("wait.duration", "wait_duration_seconds_total", "s", Counter, "Time spent waiting for connections, all requests together.",
		`rate(autopipe_pool_wait_duration_seconds_total[5m]) / rate(autopipe_pool_waits_total[5m])`,
		func(p *Pool) float64 { return float64(p.WaitDurationNs) * 1e-9 }),
	pool("stale", "stale_total", "{connection}", Counter, "Connections removed because they were too old or broken.",
		`rate(autopipe_pool_stale_total[5m])`,
		func(p *Pool) float64 { return float64(p.StaleConns) }),
	pool("connections", "connections", "{connection}", Gauge, "Connections in the pool now.",
		`autopipe_pool_connections - autopipe_pool_idle_connections`,
		func(p *Pool) float64 { return float64(p.TotalConns) }),
	pool("idle.connections", "idle_connections", "{connection}", Gauge, "Connections in the pool that nobody uses now.",
		`autopipe_pool_idle_connections`,
		func(p *Pool) float64 { return float64(p.IdleConns) }),
	pool("pending.requests", "pending_requests", "{request}", Gauge, "Requests that wait for a connection now.",
		`autopipe_pool_pending_requests`,
		func(p *Pool) float64 { return float64(p.PendingRequests) }),
}

// addPool adds the numbers of b to a, for several clients behind one pipe.
func addPool(a, b *Pool) {
	a.Hits += b.Hits
	a.Misses += b.Misses
	a.Timeouts += b.Timeouts
	a.WaitCount += b.WaitCount
	a.WaitDurationNs += b.WaitDurationNs
	a.TotalConns += b.TotalConns
	a.IdleConns += b.IdleConns
	a.StaleConns += b.StaleConns
	a.PendingRequests += b.PendingRequests
}
