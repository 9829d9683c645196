package histogram

import (
	"math"
	"time"
)

// Snapshot is the state of a histogram at one moment. Values that arrive while it is taken are in it or not; Count is
// always the sum of the buckets, and Sum may be ahead of it by the values of that moment.
type Snapshot struct {
	Count uint64
	Sum   float64 // in the exported unit: seconds for durations

	layout *Layout
	counts [maxBuckets]uint64
}

// Snapshot reads the histogram.
func (h *Histogram) Snapshot() *Snapshot {
	s := new(Snapshot)
	h.Load(s)
	return s
}

// Load reads the histogram into s, in place of what it held. It does not allocate.
func (h *Histogram) Load(s *Snapshot) {
	*s = Snapshot{layout: h.layout}
	s.Add(h)
}

// Add adds the state of another histogram of the same layout, for quantiles over several.
func (s *Snapshot) Add(h *Histogram) {
	if s.layout == nil {
		s.layout = h.layout
	}
	for i := range h.counts {
		n := h.counts[i].Load()
		s.counts[i] += n
		s.Count += n
	}
	carry, sum := h.carry.Load(), h.sum.Load()
	for c := h.carry.Load(); c != carry; c = h.carry.Load() { // wrapped just now
		carry, sum = c, h.sum.Load()
	}
	s.Sum += (float64(carry)*math.Exp2(64) + float64(sum)) * h.layout.scale
}

// Cumulative appends, for each of the layout's Bounds, how many values were at most that. Values beyond the last bound
// are in Count only.
func (s *Snapshot) Cumulative(dst []uint64) []uint64 {
	dst = s.Counts(dst)
	dst = dst[:len(dst)-1]
	own := dst[len(dst)-len(s.layout.bounds):]
	for i := 1; i < len(own); i++ {
		own[i] += own[i-1]
	}
	return dst
}

// Counts appends how many values fell between the layout's Bounds: one number for each bound and one for those beyond
// the last.
func (s *Snapshot) Counts(dst []uint64) []uint64 {
	start := len(dst)
	for range len(s.layout.bounds) + 1 {
		dst = append(dst, 0)
	}
	own := dst[start:]
	for i, r := range s.layout.round {
		own[r] += s.counts[i]
	}
	return dst
}

// Exponential calls f for each exponential bucket of Schema that is not empty, in rising order: bucket i holds the values
// above 2^((i-1)/8) and at most 2^(i/8), in the exported unit. The first holds also whatever is below it.
func (s *Snapshot) Exponential(f func(i int, count uint64)) {
	for b := 0; b < len(s.layout.exp); {
		e, n := s.layout.exp[b], uint64(0)
		for ; b < len(s.layout.exp) && s.layout.exp[b] == e; b++ {
			n += s.counts[b]
		}
		if n > 0 {
			f(int(e), n)
		}
	}
}

// Quantile estimates the value that a share q (0 to 1) of the values do not exceed, in the exported unit: at most 9 % off
// within the layout's range, the range's end beyond it. It is 0 if there are no values.
func (s *Snapshot) Quantile(q float64) float64 {
	if s.Count == 0 {
		return 0
	}
	rank := min(max(q, 0), 1) * float64(s.Count)
	var below uint64
	last := 0
	for i, upper := range s.layout.uppers {
		n := s.counts[i]
		if n > 0 && float64(below+n) >= rank {
			lower := int64(0)
			if i > 0 {
				lower = s.layout.uppers[i-1]
			}
			if upper == lower+1 { // a bucket of one integer
				return s.layout.Export(upper)
			}
			part := max(rank-float64(below), 0) / float64(n)
			return (float64(lower) + part*float64(upper-lower)) * s.layout.scale
		}
		below += n
		last = i
	}
	return s.layout.Export(s.layout.uppers[last])
}

// Duration is Quantile for layouts in nanoseconds.
func (s *Snapshot) Duration(q float64) time.Duration {
	return time.Duration(s.Quantile(q) / s.layout.scale)
}

// Mean is the mean of the values in the exported unit, 0 if there are none.
func (s *Snapshot) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return s.Sum / float64(s.Count)
}
