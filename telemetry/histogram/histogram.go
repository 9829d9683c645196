package histogram

import "sync/atomic"

// Histogram counts values in the buckets of a layout. All methods may be called concurrently.
type Histogram struct {
	layout *Layout
	counts []atomic.Uint64
	sum    atomic.Uint64
	// carry is how often sum has wrapped. Nanoseconds waited by 65,536 queued commands fill 64 bits in three days.
	carry atomic.Uint64
}

// New makes an empty histogram.
func New(l *Layout) *Histogram {
	return &Histogram{layout: l, counts: make([]atomic.Uint64, len(l.uppers)+1)}
}

// Layout is the histogram's layout.
func (h *Histogram) Layout() *Layout { return h.layout }

// Observe counts one value, in the layout's unit. Negative values count as zero.
func (h *Histogram) Observe(v int64) {
	h.counts[h.layout.Index(v)].Add(1)
	h.add(uint64(max(v, 0)))
}

func (h *Histogram) add(v uint64) {
	if h.sum.Add(v) < v {
		h.carry.Add(1)
	}
}
