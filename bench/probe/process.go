// Package probe reads what a run costs: this process's CPU time and allocations,
// and the server's own counters.
package probe

import (
	"runtime"
	"time"
)

// Process is a reading of this process's meters.
type Process struct {
	// CPU time, user and system, of all threads. It contains the collector and the
	// load drivers, which every client has alike.
	CPU time.Duration
	// Mallocs and Bytes allocated since the program began.
	Mallocs, Bytes uint64
}

// ReadProcess reads the meters. It stops the world for some microseconds, so take
// it outside the timed region.
func ReadProcess() Process {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Process{CPU: cpuTime(), Mallocs: m.Mallocs, Bytes: m.TotalAlloc}
}

// Sub is what was spent between an earlier reading and p.
func (p Process) Sub(earlier Process) Process {
	return Process{p.CPU - earlier.CPU, p.Mallocs - earlier.Mallocs, p.Bytes - earlier.Bytes}
}
