package measure

import (
	"runtime"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/probe"
)

// Round is what one variant did in one round. Everything "per command" is per
// executed command, of the whole timed region.
type Round struct {
	Executed uint64        `json:"executed"`
	Failed   uint64        `json:"failed,omitempty"`
	Error    string        `json:"error,omitempty"` // the first one
	Elapsed  time.Duration `json:"elapsed_ns"`
	Callers  int           `json:"callers"`
	Window   int           `json:"window"`

	Rate float64 `json:"commands_per_second"`
	// CPU of this process per command, in nanoseconds.
	CPU float64 `json:"client_cpu_ns"`
	// ServerCPU per command, in nanoseconds.
	ServerCPU float64 `json:"server_cpu_ns"`
	Allocs    float64 `json:"allocs"`
	Bytes     float64 `json:"bytes"`
	// PerTrip is executed commands per read of the server.
	PerTrip float64 `json:"commands_per_trip"`
	// ServerCalls is the server's own count of GET and SET. More than Executed means
	// that commands were replayed, or that somebody else uses the server.
	ServerCalls uint64 `json:"server_calls"`

	// Others is what share of all processors other programs than this one and its
	// server used meanwhile: how quiet the machine was. -1 if that is not known.
	Others float64 `json:"others"`

	// Latency in nanoseconds; of a whole window for windowed variants.
	P50  float64 `json:"p50_ns"`
	P90  float64 `json:"p90_ns"`
	P99  float64 `json:"p99_ns"`
	P999 float64 `json:"p999_ns"`
	Max  float64 `json:"max_ns"`
	// The same from the real start, for open loops: what a benchmark shows that omits
	// the waiting.
	ServiceP50 float64 `json:"service_p50_ns,omitempty"`
	ServiceP99 float64 `json:"service_p99_ns,omitempty"`
}

func newRound(r *load.Result, used probe.Process, srv probe.Counters, window, callers int) Round {
	out := Round{
		Executed: r.Executed, Failed: r.Failed, Elapsed: r.Elapsed, Rate: r.Rate(),
		Callers: callers, Window: window, ServerCalls: srv.Calls, Others: -1,
		P50:        float64(r.Latency.Quantile(0.5)),
		P90:        float64(r.Latency.Quantile(0.9)),
		P99:        float64(r.Latency.Quantile(0.99)),
		P999:       float64(r.Latency.Quantile(0.999)),
		Max:        float64(r.Latency.Max()),
		ServiceP50: float64(r.Service.Quantile(0.5)),
		ServiceP99: float64(r.Service.Quantile(0.99)),
	}
	if r.Err != nil {
		out.Error = r.Err.Error()
	}
	if r.Executed > 0 {
		n := float64(r.Executed)
		out.CPU = float64(used.CPU) / n
		out.ServerCPU = float64(srv.CPU) / n
		out.Allocs = float64(used.Mallocs) / n
		out.Bytes = float64(used.Bytes) / n
	}
	if srv.Reads > 0 {
		out.PerTrip = float64(r.Executed) / float64(srv.Reads)
	}
	return out
}

// others' processor time as a share of what the machine has. The kernel counts in
// steps of 10 ms, so a little noise around zero is normal.
func others(busy, elapsed time.Duration) float64 {
	if elapsed <= 0 || busy < 0 {
		return 0
	}
	return min(1, float64(busy)/float64(elapsed)/float64(runtime.NumCPU()))
}
