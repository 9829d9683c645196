package measure

import (
	"context"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

func TestRoundTakesEveryReading(t *testing.T) {
	t.Setenv("REDIS_HOST", "")
	t.Setenv("REDIS_ADDR", "")
	r, err := target.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := Open(r, 10)
	defer s.Close()
	for _, name := range []string{"plain", "pipeline"} {
		v := rival.Find(name)
		for _, rate := range []float64{0, 500} {
			if v.Windowed && rate > 0 {
				continue
			}
			sc := plan.Scenario{Callers: 4, Mix: load.Mixed, Size: 16, Rate: rate}
			if err := s.Warm(t.Context(), v, sc, 20*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			got, err := s.Round(t.Context(), v, sc, 200*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if got.Error != "" || got.Executed == 0 || got.Rate <= 0 || got.Allocs <= 0 || got.P99 < got.P50 || got.P50 <= 0 {
				t.Errorf("%s, rate %v: %+v", name, rate, got)
			}
			if got.ServerCalls != got.Executed {
				t.Errorf("%s, rate %v: counted %d, the server %d", name, rate, got.Executed, got.ServerCalls)
			}
			want := 1.0
			if v.Windowed {
				want = 200
			}
			if got.PerTrip < want*0.4 || got.PerTrip > want*1.1 {
				t.Errorf("%s, rate %v: %.1f commands per trip, want about %v", name, rate, got.PerTrip, want)
			}
		}
	}
}

func TestRoundEndsWithItsContext(t *testing.T) {
	t.Setenv("REDIS_HOST", "")
	t.Setenv("REDIS_ADDR", "")
	r, err := target.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := Open(r, 10)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	sc := plan.Scenario{Callers: 2, Mix: load.Set, Size: 16}
	if _, err := s.Round(ctx, rival.Find("plain"), sc, time.Minute); err == nil {
		t.Error("an interrupted round counts as measured")
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("ended after %v", d)
	}
}
