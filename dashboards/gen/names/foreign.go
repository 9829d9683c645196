package names

import (
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// Metrics of client_golang's Go and process collectors.
var (
	ProcessStart   = gauge("process_start_time_seconds")
	ProcessCPU     = counter("process_cpu_seconds_total")
	ProcessMemory  = gauge("process_resident_memory_bytes")
	GoGoroutines   = gauge("go_goroutines")
	GoThreads      = gauge("go_threads")
	GoGC           = foreign("go_gc_duration_seconds", meter.Histogram, "quantile") // a summary, which has _sum and _count too
	GoAllocBytes   = counter("go_memstats_alloc_bytes_total")
	GoAllocObjects = counter("go_memstats_mallocs_total")
	GoHeapInUse    = gauge("go_memstats_heap_inuse_bytes")
)

// Metrics of redis_exporter.
var (
	RedisUp           = gauge("redis_up")
	RedisCommands     = counter("redis_commands_processed_total")
	RedisClients      = gauge("redis_connected_clients")
	RedisBlocked      = gauge("redis_blocked_clients")
	RedisConnections  = counter("redis_connections_received_total")
	RedisRejected     = counter("redis_rejected_connections_total")
	RedisReads        = counter("redis_total_reads_processed")
	RedisNetIn        = counter("redis_net_input_bytes_total")
	RedisNetOut       = counter("redis_net_output_bytes_total")
	RedisMemory       = gauge("redis_memory_used_bytes")
	RedisCommandCalls = counter("redis_commands_total", "cmd")
	RedisCommandTime  = counter("redis_commands_duration_seconds_total", "cmd")
	RedisCPUUser      = counter("redis_cpu_user_seconds_total")
	RedisCPUSystem    = counter("redis_cpu_sys_seconds_total")
	RedisHits         = counter("redis_keyspace_hits_total")
	RedisMisses       = counter("redis_keyspace_misses_total")
)

// RedisWork leaves out the commands by which redis_exporter watches and clients set their connections up.
var RedisWork = query.Match{Label: "cmd", Op: "!~", Value: `info|config.*|slowlog.*|latency.*|client.*|hello|auth|select|ping`}

// What the demo load did in each of its benchmark scenarios, and for how many seconds.
var (
	DemoOps  = counter("autopipe_demo_ops_total", "scenario")
	DemoBusy = counter("autopipe_demo_busy_seconds_total", "scenario")
)

// Foreign are the metrics of other programs.
var Foreign []query.Metric

func foreign(name string, kind meter.Kind, labels ...string) query.Metric {
	m := query.Metric{Name: name, Kind: kind, Labels: labels}
	Foreign = append(Foreign, m)
	return m
}

func counter(name string, labels ...string) query.Metric {
	return foreign(name, meter.Counter, labels...)
}
func gauge(name string, labels ...string) query.Metric { return foreign(name, meter.Gauge, labels...) }
