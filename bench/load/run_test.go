package load

import (
	"context"
	"errors"
	"testing"
	"time"
)

// workerFunc is a Worker from a function.
type workerFunc func() (int, error)

func (f workerFunc) Do(context.Context) (int, error) { return f() }

func TestClosedCountsOnlyExecuted(t *testing.T) {
	var before, after bool
	res := Run(t.Context(), Options{
		Callers: 4, Duration: 50 * time.Millisecond, SampleEvery: 1,
		NewWorker: func(id int) Worker {
			return workerFunc(func() (int, error) {
				time.Sleep(time.Millisecond)
				if id == 0 {
					return 0, errors.New("refused")
				}
				return 2, nil
			})
		},
		Before: func() { before = true }, After: func() { after = true },
	})
	if !before || !after {
		t.Error("the timed region was not bracketed")
	}
	if res.Failed == 0 || res.Err == nil {
		t.Error("failures were not counted")
	}
	if units := res.Latency.N() - res.Failed; res.Executed != 2*units {
		t.Errorf("executed %d commands in %d good units", res.Executed, units)
	}
	if got, want := res.Rate(), float64(res.Executed)/res.Elapsed.Seconds(); got != want {
		t.Errorf("rate %v, want %v", got, want)
	}
}

func TestClosedPaysForWhatWasInFlight(t *testing.T) {
	res := Run(t.Context(), Options{
		Callers: 2, Duration: 10 * time.Millisecond,
		NewWorker: func(int) Worker {
			return workerFunc(func() (int, error) { time.Sleep(60 * time.Millisecond); return 1, nil })
		},
	})
	if res.Elapsed < 60*time.Millisecond {
		t.Fatalf("the timed region ended after %v, before the last reply", res.Elapsed)
	}
}

func TestClosedSamplesOneInEight(t *testing.T) {
	units := 0
	res := Run(t.Context(), Options{
		Callers: 1, Duration: 20 * time.Millisecond,
		NewWorker: func(int) Worker { return workerFunc(func() (int, error) { units++; return 1, nil }) },
	})
	if want := uint64(units+7) / 8; res.Latency.N() != want {
		t.Fatalf("%d of %d units were timed, want %d", res.Latency.N(), units, want)
	}
}

func TestOpenKeepsItsRate(t *testing.T) {
	res := Run(t.Context(), Options{
		Callers: 8, Duration: 500 * time.Millisecond, Rate: 4000,
		NewWorker: func(int) Worker { return workerFunc(func() (int, error) { return 1, nil }) },
	})
	// The count of a Poisson process with mean 2000 has a deviation of 45.
	if res.Executed < 1700 || res.Executed > 2300 {
		t.Fatalf("executed %d, want about 2000", res.Executed)
	}
}

func TestOpenCorrectsForCoordinatedOmission(t *testing.T) {
	res := Run(t.Context(), Options{
		Callers: 1, Duration: 400 * time.Millisecond, Rate: 500,
		NewWorker: func(int) Worker {
			n := 0
			return workerFunc(func() (int, error) {
				if n++; n == 20 {
					time.Sleep(150 * time.Millisecond) // one stall
				}
				return 1, nil
			})
		},
	})
	// Some 75 of 200 requests came due during the stall and waited 75 ms on average.
	if q := res.Latency.Quantile(0.75); q < 5*time.Millisecond {
		t.Errorf("p75 is %v: requests that came due during the stall are not charged", q)
	}
	if q := res.Service.Quantile(0.75); q > 5*time.Millisecond {
		t.Errorf("service p75 is %v: it should not contain the waiting", q)
	}
}

func TestOpenBacklogIsNotForgotten(t *testing.T) {
	res := Run(t.Context(), Options{
		Callers: 1, Duration: 200 * time.Millisecond, Rate: 1000,
		NewWorker: func(int) Worker {
			return workerFunc(func() (int, error) { time.Sleep(20 * time.Millisecond); return 1, nil })
		},
	})
	if res.Latency.N() < 120 {
		t.Errorf("only %d of about 200 requests have a latency", res.Latency.N())
	}
	if res.Elapsed > 3*time.Second { // all of it would be 4 s
		t.Errorf("the backlog was worked off for %v", res.Elapsed)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	for _, rate := range []float64{0, 2} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		start := time.Now()
		Run(ctx, Options{
			Callers: 2, Duration: 10 * time.Second, Rate: rate,
			NewWorker: func(int) Worker {
				return workerFunc(func() (int, error) { time.Sleep(time.Millisecond); return 1, nil })
			},
		})
		cancel()
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("rate %v: ran on for %v", rate, d)
		}
	}
}

func TestWorkIsTheSameForEveryClient(t *testing.T) {
	w := NewWork(Mixed, 16, 4)
	a, b := w.Picker(3), w.Picker(3)
	reads := 0
	for range 10_000 {
		k1, r1 := a.Next()
		k2, r2 := b.Next()
		if k1 != k2 || r1 != r2 {
			t.Fatal("the same caller walks different commands")
		}
		if r1 {
			reads++
		}
	}
	if reads < 8_800 || reads > 9_200 {
		t.Errorf("%d reads of 10000 in the mixed load", reads)
	}
	if got := NewWork(Set, 64<<10, 2000).Window; got != 1 {
		t.Errorf("window of 64 KiB values for 2000 callers is %d", got)
	}
	if got := NewWork(Set, 16, 500).Window; got != 200 {
		t.Errorf("window is %d, want 200", got)
	}
}
