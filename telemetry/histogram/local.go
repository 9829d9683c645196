package histogram

import "math/bits"

// Local counts values for one goroutine until they are merged into a Histogram of the same layout. Make one with
// NewLocal and use it again.
type Local struct {
	layout *Layout
	sum    uint64
	used   [maxBuckets / 64]uint64 // a bit for each bucket that is not zero, so that a merge finds them
	counts [maxBuckets]uint32
}

// NewLocal makes an empty local histogram.
func NewLocal(l *Layout) *Local { return &Local{layout: l} }

// Observe counts one value, in the layout's unit. Negative values count as zero.
func (c *Local) Observe(v int64) {
	i := c.layout.Index(v) & (maxBuckets - 1)
	c.counts[i]++
	c.used[i>>6] |= 1 << (i & 63)
	c.sum += uint64(max(v, 0))
}

// MergeInto adds the counts to h, which must have the same layout, and leaves the local histogram empty.
func (c *Local) MergeInto(h *Histogram) {
	for w, set := range c.used {
		for ; set != 0; set &= set - 1 {
			i := w<<6 | bits.TrailingZeros64(set)
			h.counts[i].Add(uint64(c.counts[i]))
			c.counts[i] = 0
		}
		c.used[w] = 0
	}
	if c.sum > 0 {
		h.add(c.sum)
		c.sum = 0
	}
}
