package load

import (
	"math/bits"
	"time"
)

// Every power of two of nanoseconds is cut into this many equal parts, so a
// reading is off by 1/64 (1.6 %) at most once the middle of its part is taken.
const (
	partBits = 5
	parts    = 1 << partBits
	// 2^37 ns is 137 s: longer than any client's timeout.
	maxPower = 37
	buckets  = (maxPower - partBits + 1) * parts
)

// Hist is a log-linear histogram of durations. It is small (4 KB) because every
// caller owns one and there may be 2000 of them: a general HDR histogram of the
// same precision takes 40 times that and would push the clients under test out
// of the cache. It is not safe for concurrent use: merge the callers' histograms
// after the run.
type Hist struct {
	count [buckets]uint32
	n     uint64
	max   time.Duration
}

// Record adds one duration. Negative ones count as zero, those beyond the range
// as the longest.
func (h *Hist) Record(d time.Duration) {
	d = max(d, 0)
	h.count[bucket(uint64(d))]++
	h.n++
	h.max = max(h.max, d)
}

// Merge adds what other holds.
func (h *Hist) Merge(other *Hist) {
	for i, c := range other.count {
		h.count[i] += c
	}
	h.n += other.n
	h.max = max(h.max, other.max)
}

// N is how many durations were recorded.
func (h *Hist) N() uint64 { return h.n }

// Max is the longest duration, exactly.
func (h *Hist) Max() time.Duration { return h.max }

// Quantile is the duration that the share q of all recorded ones do not exceed
// (0.99 for p99). Zero when nothing was recorded.
func (h *Hist) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := uint64(q*float64(h.n) + 0.5)
	rank = min(max(rank, 1), h.n)
	var seen uint64
	for i, c := range h.count {
		seen += uint64(c)
		if seen >= rank {
			return min(middle(i), h.max)
		}
	}
	return h.max
}

// bucket of v: values below parts have one each, then parts per power of two.
func bucket(v uint64) int {
	if v < parts {
		return int(v)
	}
	power := bits.Len64(v) - 1 // 2^power <= v
	if power >= maxPower {
		return buckets - 1
	}
	part := v >> (power - partBits) // in [parts, 2*parts)
	return (power-partBits)*parts + int(part)
}

// middle of a bucket, the value that stands for all in it.
func middle(i int) time.Duration {
	if i < 2*parts {
		return time.Duration(i)
	}
	shift := i/parts - 1
	low := uint64(i%parts+parts) << shift
	return time.Duration(low + 1<<shift/2)
}
