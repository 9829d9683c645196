package report

import (
	"fmt"
	"io"

	"github.com/goautopipe/redis-autopipe/bench/plan"
)

// Table of one scenario for the terminal: every variant beside the base.
func (r *Results) Table(w io.Writer, sc plan.Scenario, base string) error {
	// Arrivals fix the throughput of an open loop; there the latency is what differs.
	title, metric := "over "+base, Rate
	if sc.Rate > 0 {
		title, metric = "p99 over "+base, P99
	}
	rows := [][]string{{"variant", "commands/s", "", title, "CPU/cmd", "allocs/cmd", "B/cmd", "p50", "p99", "cmds/trip"}}
	baseline := r.Find(sc, base)
	var notes []string
	for _, v := range r.Variants {
		m := r.Find(sc, v.Name)
		if m == nil {
			continue
		}
		rate := m.Of(Rate)
		name := v.Name
		if v.Windowed {
			name += " *"
		}
		if n := m.Rounds[0].Callers; n != sc.Callers {
			name += fmt.Sprintf(" (%d callers)", n)
		}
		rows = append(rows, []string{
			name, count(rate.Median), wobble(rate), ratio(m.Over(baseline, metric)),
			duration(m.Of(CPU).Median), digits(m.Of(Allocs).Median), count(m.Of(Bytes).Median),
			duration(m.Of(P50).Median), duration(m.Of(P99).Median), digits(m.Of(PerTrip).Median),
		})
		if n, err := m.Failed(); n > 0 {
			notes = append(notes, fmt.Sprintf("! %s: %d failed, the first with: %s", v.Name, n, err))
		}
	}
	if _, err := fmt.Fprintf(w, "\n%s\n%s", sc.Words(), columns(rows)); err != nil {
		return err
	}
	for _, n := range notes {
		if _, err := fmt.Fprintln(w, n); err != nil {
			return err
		}
	}
	return nil
}

// TableNotes explains the marks of the tables.
const TableNotes = `
commands/s: median of the rounds, and half their spread. over: median [lowest highest] of the rounds' ratios.
CPU/cmd: this process's, drivers included. cmds/trip: executed commands per read of the server.
* sends a window before it reads; its latency is the whole window's.
`
