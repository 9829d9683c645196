package load

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestHistBucketsAreContiguousAndTight(t *testing.T) {
	last := -1
	for v := uint64(0); v < 1<<20; v++ {
		b := bucket(v)
		if b != last && b != last+1 {
			t.Fatalf("bucket(%d) = %d after %d", v, b, last)
		}
		last = b
		if off := math.Abs(float64(middle(b)) - float64(v)); off > float64(v)/64+1 {
			t.Fatalf("%d is read back as %d", v, middle(b))
		}
	}
	if b := bucket(math.MaxInt64); b != buckets-1 {
		t.Fatalf("the longest duration lands in bucket %d", b)
	}
}

func TestHistQuantilesFollowTheExactOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var h Hist
	all := make([]time.Duration, 50_000)
	for i := range all {
		all[i] = time.Duration(math.Exp(rng.NormFloat64()*2+11) * 1)
		h.Record(all[i])
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		exact := all[min(int(q*float64(len(all))), len(all)-1)]
		got := h.Quantile(q)
		if r := float64(got) / float64(exact); r < 0.96 || r > 1.04 {
			t.Errorf("q%v: got %v, exact %v", q, got, exact)
		}
	}
	if h.Max() != all[len(all)-1] {
		t.Errorf("max: got %v, want %v", h.Max(), all[len(all)-1])
	}
}

func TestHistMergeEqualsOneHistogram(t *testing.T) {
	var whole, a, b Hist
	for i := range 10_000 {
		d := time.Duration(i*i) * time.Nanosecond
		whole.Record(d)
		if i%3 == 0 {
			a.Record(d)
		} else {
			b.Record(d)
		}
	}
	a.Merge(&b)
	if a != whole {
		t.Fatal("merging two halves differs from recording the whole")
	}
	if a.N() != 10_000 {
		t.Fatalf("N = %d", a.N())
	}
}

func TestHistEdges(t *testing.T) {
	var h Hist
	if h.Quantile(0.5) != 0 || h.Max() != 0 {
		t.Fatal("an empty histogram reads something")
	}
	h.Record(-time.Second)
	h.Record(time.Hour)
	if h.Quantile(0) != 0 {
		t.Errorf("lowest: %v", h.Quantile(0))
	}
	if h.Max() != time.Hour {
		t.Errorf("max: %v", h.Max())
	}
}
