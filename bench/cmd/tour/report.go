package main

import (
	"fmt"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/stat"
)

func (r *row) rate() float64 { return stat.Median(r.rates) }

// timesPlain compares round by round and takes the median of that: a slow round is slow for both.
func timesPlain(rows []row, i int) float64 {
	return stat.Median(stat.Ratios(rows[i].rates, rows[0].rates))
}

// report prints the table of Act 2 and how to read it.
func report(s *screen, srv *server, rows []row, cfg config) {
	t := table{head: []string{"approach", right + "ops/s", "ordering", right + "x plain", right + "cmds/read"}}
	counted := true
	for i := range rows {
		r := &rows[i]
		perRead := "-"
		if len(r.perIn) > 0 {
			perRead = fmt.Sprintf("%.1f", stat.Median(r.perIn))
		} else {
			counted = false
		}
		t.add(fmt.Sprintf("%d. %s", i+1, r.name), number(int(r.rate())), r.ordering,
			fmt.Sprintf("%.1fx", timesPlain(rows, i)), perRead)
	}
	if !s.live {
		s.blank() // below the lines of the rounds
	}
	s.table("  ", t)
	s.blank()
	s.note(fmt.Sprintf("Medians of %d rounds that take turns, %v of each approach in each. A command counts once its reply is read.",
		len(rows[0].rates), (cfg.duration / time.Duration(len(rows[0].rates))).Round(time.Millisecond)))
	switch {
	case !counted:
		s.note("cmds/read: " + srv.short + " does not count its reads.")
	case srv.own:
		s.note("cmds/read: commands that the server took in with one read of a socket, by its INFO. A batch above 16 KB takes several reads.")
	default:
		s.note("cmds/read: commands that the server took in with one read of a socket, by its INFO. A batch above 16 KB takes several reads; those for other clients count too.")
	}
	for _, r := range rows {
		if r.failed > 0 {
			s.note(fmt.Sprintf("%s: %s failed, the first with: %v", r.name, plural(r.failed, "command"), r.err))
		}
	}
	if srv.embedded {
		s.note("These rates measure miniredis, which shares this process and its CPUs, not Redis.")
	}
}

// faster and slower are the ratios from which a difference is more than the noise of so short a measurement.
const faster, slower = 1.1, 0.9

// verdict is one line on what happened, whatever it was.
func verdict(rows []row, server string) string {
	plain, hooked := &rows[0], &rows[1]
	ratio := timesPlain(rows, 1)
	switch {
	case ratio >= faster:
		return fmt.Sprintf("%.1fx plain: %s SET/s instead of %s, %.0f per batch, %s",
			ratio, number(int(hooked.rate())), number(int(plain.rate())), hooked.batch, server)
	case ratio > slower:
		return fmt.Sprintf("No faster here: %s SET/s with the hook, %s plain (%.2fx), %.1f per batch, %s",
			number(int(hooked.rate())), number(int(plain.rate())), ratio, hooked.batch, server)
	}
	return fmt.Sprintf("SLOWER here: %s SET/s with the hook, %s plain (%.2fx), %.1f per batch, %s",
		number(int(hooked.rate())), number(int(plain.rate())), ratio, hooked.batch, server)
}
