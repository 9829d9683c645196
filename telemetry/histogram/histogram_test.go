package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

var layouts = map[string]*Layout{"seconds": Seconds, "commands": Commands, "bytes": Bytes}

func TestIndexFindsTheBucket(t *testing.T) {
	for name, l := range layouts {
		check := func(v int64) {
			got := l.Index(v)
			want, _ := slices.BinarySearch(l.uppers, v) // first bound not below v
			if v < 1 {
				want = 0
			}
			if got != want {
				t.Fatalf("%s: Index(%d) = %d, want %d", name, v, got, want)
			}
		}
		for _, u := range l.uppers {
			for _, v := range []int64{u - 1, u, u + 1} {
				check(v)
			}
		}
		for v := int64(-3); v < 5000; v++ {
			check(v)
		}
		for range 200_000 {
			check(rand.Int64() >> rand.IntN(63))
		}
		check(math.MaxInt64)
		check(math.MinInt64)
	}
}

func TestBoundsAreTheRoundValues(t *testing.T) {
	want := []float64{0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	if !slices.Equal(Seconds.Bounds(), want) {
		t.Errorf("Seconds: bounds %v, want %v", Seconds.Bounds(), want)
	}
	if got := Commands.Bounds(); got[0] != 1 || got[len(got)-1] != 4096 || len(got) != 13 {
		t.Errorf("Commands: bounds %v", got)
	}
	for name, l := range layouts {
		t.Logf("%s: %d buckets", name, len(l.uppers)+1)
	}
}

// Each value must be counted in the exported bucket whose bound it does not exceed, exactly at the bound included.
func TestCountsAreExactAtBounds(t *testing.T) {
	h := New(Seconds)
	for _, b := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond} {
		h.Observe(int64(b))
		h.Observe(int64(b) + 1)
	}
	s := h.Snapshot()
	le := map[float64]uint64{}
	for i, n := range s.Cumulative(nil) {
		le[Seconds.Bounds()[i]] = n
	}
	for bound, want := range map[float64]uint64{0.0005: 0, 0.001: 1, 0.0025: 2, 0.005: 3, 0.01: 5, 0.025: 7, 0.05: 8} {
		if le[bound] != want {
			t.Errorf("at most %gs: %d, want %d", bound, le[bound], want)
		}
	}
}

func TestExportsAgree(t *testing.T) {
	for name, l := range layouts {
		h := New(l)
		var values []float64
		for range 20_000 {
			v := int64(math.Exp(rand.Float64()*25)) + rand.Int64N(2)
			h.Observe(v)
			values = append(values, l.Export(v))
		}
		s := h.Snapshot()
		if s.Count != uint64(len(values)) {
			t.Fatalf("%s: count %d, want %d", name, s.Count, len(values))
		}
		for i, n := range s.Cumulative([]uint64{99})[1:] {
			want := uint64(0)
			for _, v := range values {
				if v <= l.Bounds()[i]*(1+1e-12) {
					want++
				}
			}
			if n != want {
				t.Errorf("%s: at most %g: %d, want %d", name, l.Bounds()[i], n, want)
			}
		}
		lowest, highest := int(l.exp[0]), int(l.exp[len(l.exp)-1])
		want := map[int]uint64{}
		for _, v := range values {
			i := lowest
			if v > 0 {
				i = min(max(int(math.Ceil(math.Log2(v)*8-1e-9)), lowest), highest)
			}
			want[i]++
		}
		sum := uint64(0)
		s.Exponential(func(i int, n uint64) {
			sum += n
			if want[i] != n {
				t.Errorf("%s: exponential bucket %d: %d, want %d", name, i, n, want[i])
			}
		})
		if sum != s.Count {
			t.Errorf("%s: exponential buckets hold %d of %d", name, sum, s.Count)
		}
	}
}

func TestQuantile(t *testing.T) {
	h := New(Seconds)
	var values []float64
	for range 50_000 {
		v := int64(math.Exp(7 + rand.Float64()*16)) // 1 us to 10 s
		h.Observe(v)
		values = append(values, float64(v)*1e-9)
	}
	slices.Sort(values)
	s := h.Snapshot()
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		want := values[min(int(q*float64(len(values))), len(values)-1)]
		if got := s.Quantile(q); math.Abs(got/want-1) > 0.1 && want > 1e-6 {
			t.Errorf("Quantile(%g) = %g, want %g", q, got, want)
		}
	}
	if got := s.Duration(0.5).Seconds(); math.Abs(got/s.Quantile(0.5)-1) > 1e-3 {
		t.Errorf("Duration and Quantile disagree: %g, %g", got, s.Quantile(0.5))
	}
	var empty Snapshot
	New(Seconds).Load(&empty)
	if empty.Quantile(0.5) != 0 || empty.Mean() != 0 {
		t.Error("an empty histogram has quantiles")
	}
	sizes := New(Commands)
	for range 10 {
		sizes.Observe(7)
	}
	if got := sizes.Snapshot().Quantile(0.5); got != 7 {
		t.Errorf("median of sevens = %g", got)
	}
}

func TestSumBeyond64Bits(t *testing.T) {
	h := New(Seconds)
	for range 8 {
		h.Observe(math.MaxInt64)
	}
	want := 8 * float64(math.MaxInt64) * 1e-9
	if got := h.Snapshot().Sum; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("sum %g, want %g", got, want)
	}
}

func TestMergeConcurrently(t *testing.T) {
	h := New(Seconds)
	var wg sync.WaitGroup
	const goroutines, rounds, each = 8, 200, 50
	for g := range goroutines {
		wg.Go(func() {
			l := NewLocal(Seconds)
			for range rounds {
				for i := range each {
					l.Observe(int64(g*1000+i) * 1000)
				}
				l.MergeInto(h)
				h.Observe(-1)
			}
		})
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		var s Snapshot
		for range 100 {
			h.Load(&s)
			if n := s.Counts(nil); sum(n) != s.Count {
				t.Errorf("count %d, buckets %d", s.Count, sum(n))
			}
		}
	}()
	wg.Wait()
	if got := h.Snapshot().Count; got != goroutines*rounds*(each+1) {
		t.Errorf("count %d, want %d", got, goroutines*rounds*(each+1))
	}
}

func sum(n []uint64) (s uint64) {
	for _, n := range n {
		s += n
	}
	return s
}

func TestNoAllocations(t *testing.T) {
	h, l := New(Seconds), NewLocal(Seconds)
	var s Snapshot
	if n := testing.AllocsPerRun(100, func() {
		for i := range int64(200) {
			l.Observe(i * 12345)
		}
		l.MergeInto(h)
		h.Observe(5)
		h.Load(&s)
		s.Quantile(0.99)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
