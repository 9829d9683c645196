package meter

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
)

// Series are the counts of one pipe and node. The catalogue's entries read them.
type Series struct {
	Pipe, Node string
	Since      time.Time // when counting began

	commands  [telemetry.NumOutcomes]atomic.Uint64
	flushes   [telemetry.NumFlushReasons]atomic.Uint64
	direct    [telemetry.NumDirectReasons]atomic.Uint64
	retries   [telemetry.NumRetryCauses]atomic.Uint64
	pipelines [2]atomic.Uint64 // pipelines, and the commands in them

	batchSize, batchBytes                     *Distribution
	queueWait, batchDuration, commandDuration *Distribution

	mu     sync.Mutex // held to replace byName
	byName atomic.Pointer[map[string]*CommandSeries]
}

func newSeries(pipe, node string) *Series {
	return &Series{
		Pipe: pipe, Node: node, Since: time.Now(),
		batchSize:       newDistribution(histogram.Commands),
		batchBytes:      newDistribution(histogram.Bytes),
		queueWait:       newDistribution(histogram.Seconds),
		batchDuration:   newDistribution(histogram.Seconds),
		commandDuration: newDistribution(histogram.Seconds),
	}
}

// Other stands for every command name that is not in autopipe's table, which bounds the number of series.
const Other = "other"

// CommandSeries are the counts of one command within a Series, for users who want LabelCommand.
type CommandSeries struct {
	Name     string // from the command table, or Other
	outcomes [telemetry.NumOutcomes]atomic.Uint64
	duration *Distribution
}

// Counts are the outcomes, as Commands has them for all commands together.
func (c *CommandSeries) Counts() []atomic.Uint64 { return c.outcomes[:] }

// Duration is what CommandDuration has for all commands together.
func (c *CommandSeries) Duration() *Distribution { return c.duration }

// command returns the counts of one command, made at its first use.
func (s *Series) command(name string) *CommandSeries {
	if known := s.byName.Load(); known != nil {
		if c := (*known)[name]; c != nil {
			return c
		}
		if command.Lookup(name) == nil && name != Other {
			return s.command(Other)
		}
	} else if command.Lookup(name) == nil {
		name = Other
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.byName.Load()
	next := map[string]*CommandSeries{}
	if old != nil {
		for k, v := range *old {
			next[k] = v
		}
	}
	c := next[name]
	if c == nil {
		c = &CommandSeries{Name: name, duration: newDistribution(histogram.Seconds)}
		next[name] = c
		s.byName.Store(&next)
	}
	return c
}

// ByCommand calls f for each command seen so far, if commands are told apart.
func (s *Series) ByCommand(f func(*CommandSeries)) {
	if known := s.byName.Load(); known != nil {
		for _, c := range *known {
			f(c)
		}
	}
}

// at is counts[i], or the last one if the engine is newer than this package and sends what it does not know.
func at[T ~uint8](counts []atomic.Uint64, i T) *atomic.Uint64 {
	return &counts[min(int(i), len(counts)-1)]
}
