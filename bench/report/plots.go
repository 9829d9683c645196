package report

import (
	"os"
	"path/filepath"

	"github.com/goautopipe/redis-autopipe/bench/chart"
	"github.com/goautopipe/redis-autopipe/bench/plan"
)

// Plot is a picture of one group of scenarios.
type Plot struct {
	Group plan.Group
	// Files, relative to the directory of the results.
	Throughput, Latency string
}

// Plots writes throughput and p99 against callers for each group that has more than
// one number of callers, to dir.
func (r *Results) Plots(dir string) ([]Plot, error) {
	var out []Plot
	for _, g := range r.Groups() {
		if r.callersIn(g) < 2 {
			continue
		}
		p := Plot{g, "throughput-" + g.Slug() + ".svg", "p99-" + g.Slug() + ".svg"}
		rate := &chart.Lines{
			Title: "Throughput: " + g.Words(), XLabel: "callers", YLabel: "commands/s", Format: count,
			Series: r.series(g, Rate),
		}
		late := &chart.Lines{
			Title: "p99 latency: " + g.Words(), XLabel: "callers", YLabel: "p99", Format: duration,
			Series: r.series(g, P99),
		}
		if err := draw(filepath.Join(dir, p.Throughput), rate); err != nil {
			return nil, err
		}
		if err := draw(filepath.Join(dir, p.Latency), late); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func draw(path string, l *chart.Lines) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = l.WriteTo(f)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func (r *Results) callersIn(g plan.Group) int {
	seen := map[int]bool{}
	for _, s := range r.Scenarios() {
		if s.Group() == g {
			seen[s.Callers] = true
		}
	}
	return len(seen)
}

// series of every variant that was measured. Variants keep their place, and so
// their colour, in all plots.
func (r *Results) series(g plan.Group, metric Metric) []chart.Series {
	out := make([]chart.Series, 0, len(r.Variants))
	for i, v := range r.Variants {
		s := chart.Series{Name: v.Title, Bold: v.Ours, Colour: i}
		if v.Missing != "" {
			continue
		}
		for _, sc := range r.Scenarios() {
			// Where a variant does not use as many callers as asked, its point would lie at
			// the wrong place.
			if m := r.Find(sc, v.Name); m != nil && sc.Group() == g && m.Rounds[0].Callers == sc.Callers {
				s.Points = append(s.Points, chart.Point{X: float64(sc.Callers), Y: m.Of(metric).Median})
			}
		}
		out = append(out, s)
	}
	return out
}
