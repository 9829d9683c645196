package stat

import (
	"math"
	"slices"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []float64
		want Spread
	}{
		{"none", nil, Spread{}},
		{"one", []float64{3}, Spread{3, 3, 3, 1}},
		{"odd", []float64{9, 1, 5}, Spread{5, 1, 9, 3}},
		{"even", []float64{4, 1, 2, 3}, Spread{2.5, 1, 4, 4}},
	} {
		in := slices.Clone(c.in)
		if got := Of(c.in); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		if !slices.Equal(in, c.in) {
			t.Errorf("%s: the input was reordered to %v", c.name, c.in)
		}
	}
}

func TestRatioPairsRounds(t *testing.T) {
	// The machine halves its speed after the first round. The pairs do not notice.
	got := Ratio([]float64{200, 100, 100}, []float64{100, 50, 50})
	if got != (Spread{2, 2, 2, 3}) {
		t.Fatalf("got %+v", got)
	}
}

func TestRatiosLeavesOutWhatSaysNothing(t *testing.T) {
	got := Ratios([]float64{1, 4, math.NaN(), 8}, []float64{0, 2, 1})
	if !slices.Equal(got, []float64{2}) {
		t.Fatalf("got %v", got)
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		in   Spread
		want Verdict
	}{
		{Spread{}, Absent},
		{Spread{1.02, 1.01, 1.03, 3}, Wins},
		{Spread{0.98, 0.97, 0.99, 3}, Loses},
		{Spread{1.02, 0.99, 1.05, 3}, Level},
		{Spread{1.4, 0.9, 1.6, 5}, Wins},
		{Spread{0.7, 0.5, 1.1, 5}, Loses},
		{Spread{1, 1, 1, 1}, Level},
	} {
		if got := c.in.Judge(); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.in, got, c.want)
		}
	}
}
