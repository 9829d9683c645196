package histogram

import "testing"

// waits look like the queue waits of one batch: most of them close together.
func waits(n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = 80_000 - int64(i)*150 + int64(i%7)*1000
	}
	return v
}

func BenchmarkLocalObserve(b *testing.B) {
	l, v := NewLocal(Seconds), waits(256)
	for i := 0; b.Loop(); i++ {
		l.Observe(v[i&255])
	}
}

// BenchmarkBatch is a batch of 256 values, filled and merged: divide by 256 for the cost of one.
func BenchmarkBatch(b *testing.B) {
	h, l, v := New(Seconds), NewLocal(Seconds), waits(256)
	for b.Loop() {
		for _, v := range v {
			l.Observe(v)
		}
		l.MergeInto(h)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/value")
}

func BenchmarkHistogramObserve(b *testing.B) {
	h, v := New(Seconds), waits(256)
	for i := 0; b.Loop(); i++ {
		h.Observe(v[i&255])
	}
}

func BenchmarkHistogramObserveParallel(b *testing.B) {
	h := New(Seconds)
	b.RunParallel(func(pb *testing.PB) {
		v := waits(256)
		for i := 0; pb.Next(); i++ {
			h.Observe(v[i&255])
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	h := New(Seconds)
	for _, v := range waits(256) {
		h.Observe(v)
	}
	var s Snapshot
	for b.Loop() {
		h.Load(&s)
	}
}
