package report

import (
	"fmt"
	"io"
	"strings"
)

// Benchstat writes every round as a line of Go's benchmark format. Compare the
// variants with
//
//	benchstat -col /variant results.txt
func (r *Results) Benchstat(w io.Writer) error {
	m := r.Machine
	goos, goarch, _ := strings.Cut(m.OS, "/")
	_, err := fmt.Fprintf(w, "goos: %s\ngoarch: %s\ncpu: %s\npkg: github.com/goautopipe/redis-autopipe/bench\ncommit: %s\nredis: %s\n",
		goos, goarch, m.CPU, m.Commit, m.Redis)
	for _, x := range r.Measured {
		for _, round := range x.Rounds {
			if err != nil {
				return err
			}
			if round.Executed == 0 {
				continue
			}
			_, err = fmt.Fprintf(w, "BenchmarkCompare/%s/variant=%s %d %.1f ns/op %.0f cmds/s %.0f cpu-ns/op %.0f p50-ns %.0f p99-ns %.2f cmds/trip %.0f B/op %.2f allocs/op\n",
				x.Scenario, x.Variant, round.Executed, float64(round.Elapsed)/float64(round.Executed), round.Rate,
				round.CPU, round.P50, round.P99, round.PerTrip, round.Bytes, round.Allocs)
		}
	}
	return err
}
