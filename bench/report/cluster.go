package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/goautopipe/redis-autopipe/bench/measure"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/stat"
)

// Cluster is what was measured on a Redis Cluster. Variants have names of their own there:
// "autopipe" is Attach.
type Cluster struct {
	Masters  int         `json:"masters"`
	Variants []Variant   `json:"variants"`
	Measured []*Measured `json:"measured"`
	// Paused is what callers of the other nodes saw while one was paused.
	Paused []*Paused `json:"paused,omitempty"`
}

// Paused is one variant with one node paused.
type Paused struct {
	Scenario plan.Scenario   `json:"scenario"`
	Variant  string          `json:"variant"`
	Rounds   []measure.Pause `json:"rounds"`
}

// of is the spread of a number over the rounds.
func (p *Paused) of(number func(measure.Pause) float64) stat.Spread {
	var all []float64
	for _, r := range p.Rounds {
		all = append(all, number(r))
	}
	return stat.Of(all)
}

// asResults has the tables of the single server speak of the cluster.
func (c *Cluster) asResults() *Results {
	if c == nil {
		return &Results{}
	}
	return &Results{Variants: c.Variants, Measured: c.Measured}
}

// Table of one scenario for the terminal.
func (c *Cluster) Table(w io.Writer, sc plan.Scenario, base string) error {
	if _, err := fmt.Fprintf(w, "\ncluster of %d masters", c.Masters); err != nil {
		return err
	}
	return c.asResults().Table(w, sc, base)
}

// Scenarios in the order they were measured.
func (c *Cluster) Scenarios() []plan.Scenario { return c.asResults().Scenarios() }

// PauseTable for the terminal; nothing if no node was paused.
func (c *Cluster) PauseTable(w io.Writer) error {
	if len(c.Paused) == 0 {
		return nil
	}
	rows := [][]string{pauseColumns}
	for _, p := range c.Paused {
		rows = append(rows, append([]string{p.Variant}, p.cells()...))
	}
	_, err := fmt.Fprintf(w, "\none of %d masters paused, callers of the others: %s\n%s", c.Masters, c.Paused[0].Scenario.Words(), columns(rows))
	return err
}

var pauseColumns = []string{"variant", "commands/s", "paused", "p50", "paused", "p99", "paused", "longest paused"}

// cells of a variant's row, without its name.
func (p *Paused) cells() []string {
	both := func(number func(measure.Served) float64, format func(float64) string) []string {
		return []string{
			format(p.of(func(r measure.Pause) float64 { return number(r.Calm) }).Median),
			format(p.of(func(r measure.Pause) float64 { return number(r.Paused) }).Median),
		}
	}
	cells := both(func(s measure.Served) float64 { return s.Rate }, count)
	cells = append(cells, both(func(s measure.Served) float64 { return s.P50 }, duration)...)
	cells = append(cells, both(func(s measure.Served) float64 { return s.P99 }, duration)...)
	return append(cells, duration(p.of(func(r measure.Pause) float64 { return r.Paused.Max }).Max))
}

// failed commands of all rounds, and the first error.
func (p *Paused) failed() (n uint64, first string) {
	for _, r := range p.Rounds {
		n += r.Failed
		if first == "" {
			first = r.Error
		}
	}
	return n, first
}

// page writes the cluster's section.
func (c *Cluster) page(b *strings.Builder) {
	if c == nil || len(c.Measured)+len(c.Paused) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## On a cluster of %d masters\n%s", c.Masters, clusterNotes)
	r := c.asResults()
	for _, sc := range r.Scenarios() {
		r.scenario(b, sc)
	}
	c.pausePage(b)
}

const clusterNotes = `
The masters share the processors with the clients, so throughput says how the ways to use a cluster compare here and not
how fast a cluster is; client CPU per command is what carries over. "autopipe over it" compares with Attach.
`

func (c *Cluster) pausePage(b *strings.Builder) {
	if len(c.Paused) == 0 {
		return
	}
	p := c.Paused[0]
	fmt.Fprintf(b, "\n### One node does not answer\n\n%s. Every caller keeps to the keys of one node; those of the paused node have\n"+
		"deadlines of 20 ms and come again. What the callers of the *other* nodes get, before and while it is paused, medians of %d\nrounds:\n\n", p.Scenario.Words(), len(p.Rounds))
	fmt.Fprintf(b, "| %s |\n|---|%s\n", strings.Join(pauseColumns, " | "), strings.Repeat("--:|", len(pauseColumns)-1))
	for _, p := range c.Paused {
		v := c.asResults().Variant(p.Variant)
		name := v.Title
		if v.Ours {
			name = "**" + name + "**"
		}
		if n, first := p.failed(); n > 0 {
			name += fmt.Sprintf(" (**%d failed: %s**)", n, strings.ReplaceAll(first, "|", "/"))
		}
		fmt.Fprintf(b, "| %s | %s |\n", name, strings.Join(p.cells(), " | "))
	}
}
