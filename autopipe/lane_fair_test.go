package autopipe

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLane_Fairness: whoever queues leaves in his turn. 2000 callers issue one command after the other; none waits for
// more than two batches before its own, on loopback (two in flight, of 512 at most) as on slow links. Time is
// virtual, so the numbers are exact.
func TestLane_Fairness(t *testing.T) {
	const callers, trips = 2000, 40
	for _, delay := range []time.Duration{50 * time.Microsecond, time.Millisecond, 10 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, get := newTestLane(&wire{delay: delay})
				_ = get(bg, "k") // learn the round trip
				took := make([][]time.Duration, callers)
				begin := time.Now()
				var wg sync.WaitGroup
				for i := range callers {
					wg.Go(func() {
						for time.Since(begin) < trips*delay {
							start := time.Now()
							_ = get(bg, "k")
							took[i] = append(took[i], time.Since(start))
						}
					})
				}
				wg.Wait()
				all := slices.Concat(took...)
				slices.Sort(all)
				median, longest := all[len(all)/2], all[len(all)-1]
				t.Logf("median %v, longest %v: %.2f", median, longest, float64(longest)/float64(median))
				if longest > 3*delay {
					t.Errorf("a command took %v: more than two batches and its own, at a round trip of %v", longest, delay)
				}
				fewest, most := len(took[0]), len(took[0])
				for _, t := range took {
					fewest, most = min(fewest, len(t)), max(most, len(t))
				}
				if fewest*2 < most {
					t.Errorf("between %d and %d commands for each caller", fewest, most)
				}
			})
		})
	}
}
