// Package stat holds the little arithmetic that every published number goes
// through: medians over rounds, and ratios of two variants with their spread.
//
// A ratio is always taken between two variants of the same round and only then
// summarised. Rounds alternate between the variants, so a machine that slows
// down half-way hits both sides of a pair alike; the ratio of two medians would
// not have that property.
package stat

import (
	"math"
	"slices"
)

// Spread is the middle of some numbers and how far they reach.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
}

// Of summarises xs. Without numbers, all fields are zero.
func Of(xs []float64) Spread {
	if len(xs) == 0 {
		return Spread{}
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	return Spread{Median: middle(s), Min: s[0], Max: s[len(s)-1], N: len(s)}
}

// Median of xs; the mean of the two middle ones when their count is even; zero
// without numbers. xs keeps its order.
func Median(xs []float64) float64 { return Of(xs).Median }

func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// Ratios divides a by b round by round. A round that either side lacks or where
// b is zero says nothing and is left out.
func Ratios(a, b []float64) []float64 {
	n := min(len(a), len(b))
	out := make([]float64, 0, n)
	for i := range n {
		r := a[i] / b[i]
		if b[i] == 0 || math.IsNaN(r) || math.IsInf(r, 0) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// Ratio is the spread of the rounds' ratios a/b.
func Ratio(a, b []float64) Spread { return Of(Ratios(a, b)) }

// Verdict says in a word how a ratio stands to 1.
type Verdict string

// The verdicts. A lead that every round confirms counts however small it is; one
// that some round denies counts only from 5 % on.
const (
	Wins   Verdict = "wins"
	Loses  Verdict = "loses"
	Level  Verdict = "level"
	Absent Verdict = "absent" // nothing to compare
)

// Judge says whether more is won or lost. For numbers where less is better, give
// the inverse ratio.
func (s Spread) Judge() Verdict {
	switch {
	case s.N == 0:
		return Absent
	case s.N > 1 && s.Min > 1:
		return Wins
	case s.N > 1 && s.Max < 1:
		return Loses
	case s.Median >= 1.05:
		return Wins
	case s.Median <= 0.95:
		return Loses
	default:
		return Level
	}
}
