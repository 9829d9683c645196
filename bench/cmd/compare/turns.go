package main

// turns is the order in which n variants run in a round. What ran before a variant shows in its figures (where the
// system put its threads, how far the collector has come), so each round gives every variant another predecessor, until all
// steps that visit every variant are used up.
func turns(round, n int) []int {
	var steps []int
	for s := 1; s < max(n, 2); s++ {
		if gcd(s, n) == 1 {
			steps = append(steps, s)
		}
	}
	step, order := steps[round%len(steps)], make([]int, n)
	for k := range order {
		order[k] = (round + k*step) % n
	}
	return order
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
