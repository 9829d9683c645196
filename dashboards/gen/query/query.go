package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

var noPipe telemetry.Pipe

// Scope is where a query looks: which series, over which window.
type Scope struct {
	// Window is the range of rate and increase.
	Window string
	// Match are matchers by label; a query uses those whose label its metric has.
	Match []Match
}

// Match is a label matcher, for example {Label: "pipe", Op: "=~", Value: "$pipe"}.
type Match struct{ Label, Op, Value string }

func (m Match) String() string { return fmt.Sprintf("%s%s%q", m.Label, m.Op, m.Value) }

// Is matches a metric's own label with one of some values. A value outside the label's closed set panics: the generator
// must not write queries that can never match.
func Is(m Metric, values ...fmt.Stringer) Match {
	var list []string
	for _, v := range values {
		if !slices.Contains(m.Values, v.String()) {
			panic(fmt.Sprintf("%s: %s is never %q", m.Name, m.Own, v))
		}
		list = append(list, v.String())
	}
	if len(list) == 1 {
		return Match{m.Own, "=", list[0]}
	}
	return Match{m.Own, "=~", strings.Join(list, "|")}
}

// Select is a vector selector.
func (s Scope) Select(m Metric, more ...Match) string {
	var parts []string
	for _, match := range append(slices.Clone(s.Match), more...) {
		if m.has(match.Label) {
			parts = append(parts, match.String())
		} else if slices.Contains(more, match) {
			panic(m.Name + " has no label " + match.Label)
		}
	}
	if len(parts) == 0 {
		return m.Name
	}
	return m.Name + "{" + strings.Join(parts, ", ") + "}"
}

// Over is a range selector over the window.
func (s Scope) Over(m Metric, more ...Match) string {
	return s.Select(m, more...) + "[" + s.Window + "]"
}

// Rate is the per-second rate of a counter.
func (s Scope) Rate(m Metric, more ...Match) string { return "rate(" + s.Over(m, more...) + ")" }

// Increase is how much a counter grew over the window.
func (s Scope) Increase(m Metric, more ...Match) string {
	return "increase(" + s.Over(m, more...) + ")"
}

// SumRate is the rate summed by labels; by no label, over everything.
func (s Scope) SumRate(by []string, m Metric, more ...Match) string {
	return Agg("sum", by, s.Rate(m, more...))
}

// Mean is a histogram's mean value over the window.
func (s Scope) Mean(by []string, m Metric) string {
	return Div(s.SumRate(by, m.Sum()), s.SumRate(by, m.Count()))
}

// Quantile is a histogram's quantile over the window.
func (s Scope) Quantile(q float64, by []string, m Metric) string {
	return fmt.Sprintf("histogram_quantile(%g, %s)", q, s.SumRate(append([]string{LabelLE}, by...), m.Bucket()))
}

// Agg aggregates by labels.
func Agg(op string, by []string, expr string) string {
	if len(by) == 0 {
		return op + "(" + expr + ")"
	}
	return op + " by (" + strings.Join(by, ", ") + ") (" + expr + ")"
}

// Div divides two expressions that are function calls or aggregations.
func Div(a, b string) string { return a + " / " + b }

// On divides the series of many by the one series of one that agrees with each in some labels.
func On(labels []string, many, one string) string {
	return many + " / on (" + strings.Join(labels, ", ") + ") group_left " + one
}

// By is a list of labels.
func By(labels ...string) []string { return labels }
