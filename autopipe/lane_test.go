package autopipe

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

func TestLane_LoneCommandLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{delay: time.Millisecond}
		h, get := newTestLane(w)
		start := time.Now()
		for range 3 {
			if err := get(bg, "a"); err != nil {
				t.Error(err)
			}
		}
		if d := time.Since(start); d != 3*time.Millisecond {
			t.Errorf("three commands one after the other took %v, want 3 ms", d)
		}
		if s := h.Stats(); s.Batches != 3 || s.Flushes["idle"] != 3 {
			t.Errorf("stats %v, want three idle flushes", s)
		}
	})
}

// TestLane_QueueBecomesABatch: what comes while all places are taken leaves together, in the order it came.
func TestLane_QueueBecomesABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{delay: time.Millisecond}
		h, get := newTestLane(w, WithMaxInFlight(1))
		var wg sync.WaitGroup
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			wg.Add(1)
			go func() {
				defer wg.Done()
				_ = get(bg, key)
			}()
			synctest.Wait() // until it sleeps on the wire or in the queue
		}
		wg.Wait()
		want := [][]string{{"a"}, {"b", "c", "d", "e"}}
		if !slices.EqualFunc(w.sent, want, slices.Equal) {
			t.Errorf("sent %v, want %v", w.sent, want)
		}
		if s := h.Stats(); s.Flushes["idle"] != 1 || s.Flushes["drain"] != 1 || s.Commands != 5 {
			t.Errorf("stats %v", s)
		}
	})
}

func TestLane_Limits(t *testing.T) {
	for _, c := range []struct {
		name   string
		opts   []Option
		n      int
		sizes  []int
		reason telemetry.FlushReason
		count  uint64
		widest int64
	}{
		{"size", []Option{WithMaxInFlight(1), WithMaxBatch(4)}, 11, []int{1, 4, 4, 2}, telemetry.FlushSize, 2, 1},
		{"size, exactly", []Option{WithMaxInFlight(1), WithMaxBatch(5)}, 11, []int{1, 5, 5}, telemetry.FlushSize, 2, 1},
		{"one", []Option{WithMaxInFlight(1), WithMaxBatch(1)}, 4, []int{1, 1, 1, 1}, telemetry.FlushSize, 2, 1},
		// A GET of a one-byte key counts 16 + (16+3) + (16+1) = 52 bytes; 1,024 bytes hold 19 of them.
		{"bytes", []Option{WithMaxInFlight(1), WithMaxBatchBytes(1)}, 40, []int{1, 19, 19, 1}, telemetry.FlushBytes, 2, 1},
		{"places", []Option{WithMaxInFlight(2), WithMaxBatch(4)}, 10, []int{1, 1, 4, 4}, telemetry.FlushSize, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{delay: time.Millisecond}
				h, get := newTestLane(w, c.opts...)
				var wg sync.WaitGroup
				for range c.n {
					wg.Add(1)
					go func() {
						defer wg.Done()
						_ = get(bg, "k")
					}()
					synctest.Wait()
				}
				wg.Wait()
				if got := w.sizes(); !slices.Equal(got, c.sizes) {
					t.Errorf("batches of %v, want %v", got, c.sizes)
				}
				if got := h.Stats().Flushes[c.reason.String()]; got != c.count {
					t.Errorf("%d flushes by %v, want %d (%v)", got, c.reason, c.count, h.Stats())
				}
				if got := w.widest.Load(); got != c.widest {
					t.Errorf("%d batches at once, want %d", got, c.widest)
				}
			})
		})
	}
}

// TestLane_InFlightFollowsTheRoundTrip: on a 1 ms link commands that come 0.2 ms apart do not wait for each other.
func TestLane_InFlightFollowsTheRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{delay: time.Millisecond}
		_, get := newTestLane(w)
		_ = get(bg, "k") // learn the round trip
		var worst atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				start := time.Now()
				_ = get(bg, "k")
				if d := int64(time.Since(start)); d > worst.Load() {
					worst.Store(d)
				}
			}()
			time.Sleep(200 * time.Microsecond)
		}
		wg.Wait()
		if d := time.Duration(worst.Load()); d > time.Millisecond {
			t.Errorf("a command took %v, want one round trip of 1 ms", d)
		}
	})
}

// TestLane_ContextEndsInFlight: callers alone and in a batch return at their deadline, not with the reply.
func TestLane_ContextEndsInFlight(t *testing.T) {
	const wait = 100 * time.Millisecond
	for _, c := range []struct{ company, callers int }{{0, 1}, {1, 50}} {
		synctest.Test(t, func(t *testing.T) {
			w := &wire{delay: 4 * wait}
			var seen []telemetry.Command
			o := observe{BatchEnd: func(_ context.Context, b *telemetry.Batch) { seen = append(seen, b.Commands...) }}
			h, get := newTestLane(w, WithMaxInFlight(1), WithObserver(o))
			var wg sync.WaitGroup
			for range c.company { // the others queue until it is back, a moment before their deadline
				wg.Go(func() { _ = get(bg, "company") })
				time.Sleep(w.delay - wait/2)
			}
			for range c.callers {
				wg.Go(func() {
					start := time.Now()
					ctx, cancel := context.WithDeadline(bg, start.Add(wait))
					defer cancel()
					err := get(ctx, "k")
					var e *ContextError
					if !errors.As(err, &e) || !e.InFlight || !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%d callers: %v", c.callers, err)
					}
					if d := time.Since(start); d != wait {
						t.Errorf("%d callers: back after %v", c.callers, d)
					}
				})
			}
			wg.Wait()
			time.Sleep(w.delay)
			synctest.Wait() // the batch is back
			for _, cmd := range seen[c.company:] {
				if !cmd.Left || cmd.Duration != wait {
					t.Errorf("%d callers: the batch tells %+v", c.callers, cmd)
				}
			}
			if got := w.sizes(); got[len(got)-1] != c.callers || h.Stats().Outcomes["cancelled"] != uint64(c.callers) {
				t.Errorf("%v, %v", got, h.Stats())
			}
		})
	}
}

func TestRoundTripBatches(t *testing.T) {
	var r roundTrip
	check := func(what string, want int) {
		t.Helper()
		if got := r.batches(); got != want {
			t.Errorf("%s: %d batches, want %d", what, got, want)
		}
	}
	check("nothing known", 2)
	r.add(0, 50*time.Microsecond)
	check("loopback", 2)
	r.add(10*time.Millisecond, 900*time.Microsecond)
	check("a slow batch after it", 2)
	r.add(1100*time.Millisecond, 500*time.Microsecond)
	check("next epoch: the last one still counts", 2)
	r.add(2200*time.Millisecond, 520*time.Microsecond)
	check("the fast one is forgotten", 5)
	r.add(3300*time.Millisecond, 10*time.Millisecond)
	r.add(4400*time.Millisecond, 10*time.Millisecond)
	check("a slow link", 100)
}

// TestLane_OverdueBatch: a batch whose reply takes long does not keep others waiting.
func TestLane_OverdueBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		_, get := newTestLane(w)
		_ = get(bg, "k") // the round trip is short
		w.delay = 100 * time.Millisecond
		var wg sync.WaitGroup
		start := func() {
			wg.Add(1)
			go func() {
				defer wg.Done()
				_ = get(bg, "slow")
			}()
			synctest.Wait()
		}
		for range 4 {
			start() // two lone ones, and two that queue
		}
		w.delay = 0
		time.Sleep(time.Millisecond)
		begin := time.Now()
		_ = get(bg, "fast") // takes the queued ones along
		if d := time.Since(begin); d > time.Millisecond {
			t.Errorf("waited %v behind a slow batch", d)
		}
		wg.Wait()
	})
}

func TestLane_Linger(t *testing.T) {
	const linger = 2 * time.Millisecond
	run := func(t *testing.T, n int, apart time.Duration) (*wire, *Hook, time.Duration) {
		w := &wire{}
		h, get := newTestLane(w, WithLinger(linger), WithMaxBatch(4))
		start := time.Now()
		var wg sync.WaitGroup
		for range n {
			wg.Add(1)
			go func() {
				defer wg.Done()
				_ = get(bg, "k")
			}()
			time.Sleep(apart)
		}
		wg.Wait()
		return w, h, time.Since(start)
	}
	t.Run("a lone command waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, h, took := run(t, 1, 0)
			if took != linger || h.Stats().Flushes["linger"] != 1 || len(w.sent) != 1 {
				t.Errorf("took %v, stats %v", took, h.Stats())
			}
		})
	})
	t.Run("others join", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, h, _ := run(t, 3, linger/4)
			if got := w.sizes(); !slices.Equal(got, []int{3}) || h.Stats().Flushes["linger"] != 1 {
				t.Errorf("batches %v, stats %v", got, h.Stats())
			}
		})
	})
	t.Run("a full batch does not wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, h, took := run(t, 4, linger/10)
			if got := w.sizes(); !slices.Equal(got, []int{4}) || h.Stats().Flushes["size"] != 1 || took >= linger {
				t.Errorf("batches %v, took %v, stats %v", got, took, h.Stats())
			}
		})
	})
}
