package histogram

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// Schema is the resolution of the exponential buckets, as Prometheus and OpenTelemetry count it: each bound is
// 2^(2^-Schema) times the one before, which makes eight buckets for each doubling.
const Schema = 3

// maxBuckets bounds a layout, so that an index fits a byte and a set of buckets fits four words.
const maxBuckets = 256

// Layout is a fixed set of buckets. It is immutable; use one of the package's variables or NewLayout.
type Layout struct {
	scale  float64 // exported value of one unit
	uppers []int64 // inclusive upper bound of each bucket but the last, which has none
	bounds []float64
	round  []uint8 // for each bucket: index of the first exported bound that holds it; len(bounds) for +Inf
	exp    []int16 // for each bucket: its index among the exponential buckets of Schema
	first  [64 << subBits]uint8
}

// The layouts that autopipe uses.
var (
	// Seconds is for durations, observed in nanoseconds and exported in seconds: 10 us to 10 s. Round values that
	// people put into service level objectives (1 ms, 5 ms, 10 ms, 25 ms ...) are exact bounds.
	Seconds = NewLayout(1e-9, int64(time.Microsecond), int64(100*time.Second), durations(
		10*time.Microsecond, 25*time.Microsecond, 50*time.Microsecond,
		100*time.Microsecond, 250*time.Microsecond, 500*time.Microsecond,
		time.Millisecond, 2500*time.Microsecond, 5*time.Millisecond,
		10*time.Millisecond, 25*time.Millisecond, 50*time.Millisecond,
		100*time.Millisecond, 250*time.Millisecond, 500*time.Millisecond,
		time.Second, 2500*time.Millisecond, 5*time.Second, 10*time.Second)...)

	// Commands is for batch sizes: the powers of two from 1 to 4096.
	Commands = NewLayout(1, 1, 1<<16, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)

	// Bytes is for request sizes: 64 B to 64 MiB, with the default limit of a batch, 128 KiB, as an exact bound.
	Bytes = NewLayout(1, 16, 1<<28, 64, 128, 256, 512, 1<<10, 2<<10, 4<<10, 8<<10, 16<<10, 32<<10, 64<<10, 128<<10,
		256<<10, 512<<10, 1<<20, 4<<20, 16<<20, 64<<20)
)

func durations(ds ...time.Duration) []int64 {
	ns := make([]int64, len(ds))
	for i, d := range ds {
		ns[i] = int64(d)
	}
	return ns
}

// NewLayout makes a layout whose exported bounds are the given ones times scale. Quantiles and native histograms
// tell values between least and greatest apart. All are in the layout's unit, positive, and round is in rising order.
// It panics if that makes more than 256 buckets, about 24 doublings: layouts are made once, at the start.
func NewLayout(scale float64, least, greatest int64, round ...int64) *Layout {
	l := &Layout{scale: scale}
	lowest, highest := expIndex(float64(least)*scale), expIndex(float64(greatest)*scale)
	for i := lowest; i <= highest; i++ {
		if b := expUpper(i, scale); b >= 1 {
			l.uppers = append(l.uppers, b)
		}
	}
	l.uppers = append(l.uppers, round...)
	slices.Sort(l.uppers)
	l.uppers = slices.Compact(l.uppers)
	if len(l.uppers) >= maxBuckets {
		panic("histogram: layout has too many buckets")
	}
	for _, r := range round {
		// Dividing gives the float that a person would write (0.001); multiplying by 1e-9 may miss it by a bit.
		l.bounds = append(l.bounds, float64(r)/math.Round(1/scale))
	}
	for i := 0; i <= len(l.uppers); i++ {
		at := len(round)
		if i < len(l.uppers) {
			at, _ = slices.BinarySearch(round, l.uppers[i])
		}
		l.round = append(l.round, uint8(at))
		l.exp = append(l.exp, l.expOf(i, lowest, highest))
	}
	for slot := range l.first {
		lowest := slotStart(slot)
		at, _ := slices.BinarySearch(l.uppers, lowest)
		l.first[slot] = uint8(at)
	}
	return l
}

// expUpper is the greatest value, in the layout's unit, of exponential bucket i.
func expUpper(i int, scale float64) int64 {
	return int64(math.Floor(math.Exp2(float64(i)/(1<<Schema))/scale + 1e-9))
}

// expIndex is the exponential bucket of an exported value: the least i with v <= 2^(i/8), but for rounding.
func expIndex(v float64) int {
	return int(math.Ceil(math.Log2(v)*(1<<Schema) - 1e-9))
}

// expOf finds the exponential bucket of bucket i: since the bounds of all exponential buckets are among ours, the one
// that holds its greatest value holds it all.
func (l *Layout) expOf(i, lowest, highest int) int16 {
	if i == len(l.uppers) {
		return int16(highest + 1)
	}
	for e := lowest; e <= highest; e++ {
		if expUpper(e, l.scale) >= l.uppers[i] {
			return int16(e)
		}
	}
	return int16(highest + 1)
}

// subBits is how many bits below the leading one choose a slot of the table that Index starts from.
const subBits = 3

// slotOf is the slot of a positive value: its magnitude and the bits below its leading one.
func slotOf(v uint64) int {
	e := bits.Len64(v)
	if e <= subBits {
		return int(v) // small values have a slot each
	}
	return (e-subBits)<<subBits | int(v>>(e-1-subBits))&(1<<subBits-1)
}

// slotStart is the least value of a slot.
func slotStart(slot int) int64 {
	e := slot >> subBits
	if e == 0 {
		return int64(slot)
	}
	return int64(1<<subBits|slot&(1<<subBits-1)) << (e - 1)
}

// Index is the bucket of v. Values below one count as the least, those beyond the last bound as one more.
func (l *Layout) Index(v int64) int {
	if v < 1 {
		return 0
	}
	i := int(l.first[slotOf(uint64(v))&(len(l.first)-1)])
	for i < len(l.uppers) && v > l.uppers[i] {
		i++
	}
	return i
}

// Bounds are the exported upper bounds, without +Inf. The slice is shared: do not change it.
func (l *Layout) Bounds() []float64 { return l.bounds }

// Bucket is the exported bucket of the value v: an index into Bounds, or len(Bounds()) beyond the last.
func (l *Layout) Bucket(v int64) int { return int(l.round[l.Index(v)]) }

// Export is the exported value of v, in seconds for nanoseconds.
func (l *Layout) Export(v int64) float64 { return float64(v) * l.scale }
