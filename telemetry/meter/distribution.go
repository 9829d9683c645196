package meter

import (
	"context"
	"sync"
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
)

// Distribution is a histogram with, if exemplars are on, the latest example for each exported bucket.
type Distribution struct {
	*histogram.Histogram

	mu       sync.Mutex
	examples []Exemplar // by exported bucket; nil before the first
}

func newDistribution(l *histogram.Layout) *Distribution {
	return &Distribution{Histogram: histogram.New(l)}
}

// Trace names a sampled span.
type Trace struct {
	TraceID [16]byte
	SpanID  [8]byte
}

// Sampler finds the sampled span of a caller's context, if there is one.
type Sampler func(context.Context) (Trace, bool)

// Exemplar is one observed value and the span it belongs to.
type Exemplar struct {
	Trace
	Value float64 // in the exported unit
	Time  time.Time
}

// mark keeps v as the example of its bucket. If another goroutine is at it, that one's will do.
func (d *Distribution) mark(v int64, t Trace, now time.Time) {
	if !d.mu.TryLock() {
		return
	}
	defer d.mu.Unlock()
	l := d.Layout()
	if d.examples == nil {
		d.examples = make([]Exemplar, len(l.Bounds())+1)
	}
	d.examples[l.Bucket(v)] = Exemplar{t, l.Export(v), now}
}

// Exemplars returns the latest example of each bucket that has one.
func (d *Distribution) Exemplars() []Exemplar {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Exemplar
	for _, e := range d.examples {
		if !e.Time.IsZero() {
			list = append(list, e)
		}
	}
	return list
}
