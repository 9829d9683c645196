package meter

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// InfoLabel is one label of an info metric.
type InfoLabel struct{ Key, Value string }

// ConfigLabels are the labels of ConfigInfo, besides LabelPipe: always the same keys in the same order. Sizes are
// in commands and bytes, the linger time in seconds.
func ConfigLabels(p telemetry.Pipe) []InfoLabel {
	return []InfoLabel{
		{"max_batch", strconv.Itoa(p.MaxBatch)},
		{"max_batch_bytes", strconv.Itoa(p.MaxBatchBytes)},
		{"max_in_flight", strconv.Itoa(p.MaxInFlight)},
		{"max_queue", strconv.Itoa(p.MaxQueue)},
		{"linger", strconv.FormatFloat(p.Linger.Seconds(), 'g', -1, 64)},
		{"retry", p.Retry},
		{"max_retries", strconv.Itoa(p.MaxRetries)},
	}
}

const modulePath = "github.com/goautopipe/redis-autopipe"

var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Path == modulePath && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == modulePath {
			return d.Version
		}
	}
	return "(devel)"
})

// Version is autopipe's version, "(devel)" if the build does not tell.
func Version() string { return version() }

// BuildLabels are the labels of BuildInfo.
func BuildLabels() []InfoLabel {
	return []InfoLabel{
		{"version", Version()},
		{"goredis_version", redis.Version()},
		{"go_version", runtime.Version()},
	}
}
