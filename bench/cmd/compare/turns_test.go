package main

import (
	"slices"
	"testing"
)

func TestTurns(t *testing.T) {
	for n := 1; n <= 12; n++ {
		first := map[int]bool{}
		for round := range n {
			order := turns(round, n)
			first[order[0]] = true
			slices.Sort(order)
			for i, v := range order {
				if i != v {
					t.Fatalf("round %d of %d variants: order %v", round, n, turns(round, n))
				}
			}
		}
		if len(first) != n {
			t.Errorf("%d variants, but only %d were ever the first", n, len(first))
		}
	}
	const n, rounds = 11, 5 // as in the standard plan
	before := map[[2]int]int{}
	for round := range rounds {
		order := turns(round, n)
		for i := 1; i < n; i++ {
			before[[2]int{order[i-1], order[i]}]++
		}
	}
	for pair, times := range before {
		if times > 1 {
			t.Errorf("%d ran after %d in %d of %d rounds", pair[1], pair[0], times, rounds)
		}
	}
}
