// Package report turns what was measured into things to read: a table on the
// terminal, JSON, text for benchstat, plots, and the results page.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/measure"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/stat"
)

// Results of a whole comparison, as stored.
type Results struct {
	Plan     string        `json:"plan"`
	Started  time.Time     `json:"started"`
	Took     time.Duration `json:"took_ns"`
	Machine  Machine       `json:"machine"`
	Settings Settings      `json:"settings"`
	Variants []Variant     `json:"variants"`
	Measured []*Measured   `json:"measured"`
	// Cluster is what was measured on a cluster; nil if nothing was.
	Cluster *Cluster `json:"cluster,omitempty"`
	// Notes are what a reader must know: scenarios left out, errors seen.
	Notes []string `json:"notes,omitempty"`
}

// Settings that hold for all variants.
type Settings struct {
	Rounds      int           `json:"rounds"`
	Duration    time.Duration `json:"duration_ns"`
	Warmup      time.Duration `json:"warmup_ns"`
	Pool        int           `json:"pool"`
	Cancellable bool          `json:"cancellable_contexts"`
	OwnServer   bool          `json:"own_server"`
}

// Variant as the results know it.
type Variant struct {
	Name       string `json:"name"`
	Title      string `json:"title"`
	Ours       bool   `json:"ours,omitempty"`
	Windowed   bool   `json:"windowed,omitempty"`
	MaxCallers int    `json:"max_callers,omitempty"`
	Missing    string `json:"missing,omitempty"`
}

// VariantOf a registry entry.
func VariantOf(v *rival.Variant) Variant {
	return Variant{v.Name, v.Title, v.Ours, v.Windowed, v.MaxCallers, v.Missing}
}

// Measured is one variant in one scenario.
type Measured struct {
	Scenario plan.Scenario   `json:"scenario"`
	Variant  string          `json:"variant"`
	Rounds   []measure.Round `json:"rounds"`
	// Report of the client about itself, cumulative.
	Report any `json:"report,omitempty"`
}

// Metric is a number of a round.
type Metric func(measure.Round) float64

// The metrics of the tables.
var (
	Rate    Metric = func(r measure.Round) float64 { return r.Rate }
	CPU     Metric = func(r measure.Round) float64 { return r.CPU }
	Allocs  Metric = func(r measure.Round) float64 { return r.Allocs }
	Bytes   Metric = func(r measure.Round) float64 { return r.Bytes }
	P50     Metric = func(r measure.Round) float64 { return r.P50 }
	P99     Metric = func(r measure.Round) float64 { return r.P99 }
	PerTrip Metric = func(r measure.Round) float64 { return r.PerTrip }
)

// Each round's number.
func (m *Measured) Each(metric Metric) []float64 {
	if m == nil {
		return nil
	}
	out := make([]float64, len(m.Rounds))
	for i, r := range m.Rounds {
		out[i] = metric(r)
	}
	return out
}

// Of is the spread of a metric over the rounds.
func (m *Measured) Of(metric Metric) stat.Spread { return stat.Of(m.Each(metric)) }

// Over is the spread of the rounds' ratios m/other.
func (m *Measured) Over(other *Measured, metric Metric) stat.Spread {
	return stat.Ratio(m.Each(metric), other.Each(metric))
}

// Failed units of all rounds, and their first error.
func (m *Measured) Failed() (n uint64, first string) {
	for _, r := range m.Rounds {
		n += r.Failed
		if first == "" {
			first = r.Error
		}
	}
	return n, first
}

// Find what was measured; nil if it was not.
func (r *Results) Find(sc plan.Scenario, variant string) *Measured {
	for _, m := range r.Measured {
		if m.Scenario == sc && m.Variant == variant && len(m.Rounds) > 0 {
			return m
		}
	}
	return nil
}

// Variant of a name; the zero one if there is none.
func (r *Results) Variant(name string) Variant {
	for _, v := range r.Variants {
		if v.Name == name {
			return v
		}
	}
	return Variant{Name: name, Title: name}
}

// Scenarios in the order they were measured.
func (r *Results) Scenarios() []plan.Scenario {
	var out []plan.Scenario
	seen := map[plan.Scenario]bool{}
	for _, m := range r.Measured {
		if !seen[m.Scenario] {
			seen[m.Scenario] = true
			out = append(out, m.Scenario)
		}
	}
	return out
}

// Groups of scenarios, in order.
func (r *Results) Groups() []plan.Group {
	var out []plan.Group
	seen := map[plan.Group]bool{}
	for _, s := range r.Scenarios() {
		if g := s.Group(); !seen[g] {
			seen[g] = true
			out = append(out, g)
		}
	}
	return out
}

// quiet machines leave less than this share of the processors to other programs.
const quiet = 0.05

// Disturbance is the share of the processors that other programs used during the
// rounds, as a median and at most; not known where N is zero.
func (r *Results) Disturbance() stat.Spread {
	var all []float64
	measured := r.Measured
	if r.Cluster != nil {
		measured = slices.Concat(measured, r.Cluster.Measured)
	}
	for _, m := range measured {
		for _, x := range m.Rounds {
			if x.Others >= 0 {
				all = append(all, x.Others)
			}
		}
	}
	return stat.Of(all)
}

// Quiet says in a sentence how quiet the machine was; empty if that is not known.
func (r *Results) Quiet() string {
	d := r.Disturbance()
	if d.N == 0 {
		return ""
	}
	s := fmt.Sprintf("Other programs used %.0f %% of the processors in the median round, %.0f %% at most", 100*d.Median, 100*d.Max)
	if d.Median > quiet {
		s += ": **too much to publish these numbers**"
	}
	return s + "."
}

// WriteJSON writes all of it.
func (r *Results) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(rd io.Reader) (*Results, error) {
	var r Results
	if err := json.NewDecoder(rd).Decode(&r); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	return &r, nil
}
