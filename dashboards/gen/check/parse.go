// Package check holds the dashboards and rules to what this project wants of them: without a server (lint), and against
// a Prometheus that scrapes the demo (live).
package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// promQL is Prometheus's own parser, without experimental features.
var promQL = parser.NewParser(parser.Options{})

// Variables are what Grafana puts in place of $name and ${name}.
type Variables map[string]string

// Expand replaces the variables of an expression; one that is unknown stays and makes the expression invalid.
func (v Variables) Expand(expr string) string {
	return expandable.ReplaceAllStringFunc(expr, func(s string) string {
		if value, ok := v[strings.Trim(s, "${}")]; ok {
			return value
		}
		return s
	})
}

// known finds a metric by the name of a series, and the part of it that the series is.
func known(series string) (m query.Metric, part string, ok bool) {
	for _, m := range names.All() {
		if m.Name == series {
			return m, "", true
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if m.Kind == meter.Histogram && m.Name+suffix == series {
				return m, suffix, true
			}
		}
	}
	return query.Metric{}, "", false
}

// cumulative says whether a series only grows, so that nothing but its rate is worth showing.
func cumulative(m query.Metric, part string) bool { return m.Kind == meter.Counter || part != "" }

// selector is a vector selector and where it stands.
type selector struct {
	*parser.VectorSelector
	call   string        // the function around it, "" for none
	window time.Duration // of the range, 0 if it has none
}

// selectors are all vector selectors in an expression.
func selectors(expr parser.Expr) []selector {
	var found []selector
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		vs, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		s := selector{VectorSelector: vs}
		up := path
		if n := len(up); n > 0 {
			if matrix, ok := up[n-1].(*parser.MatrixSelector); ok {
				s.window, up = matrix.Range, up[:n-1]
			}
		}
		if n := len(up); n > 0 {
			if call, ok := up[n-1].(*parser.Call); ok {
				s.call = call.Func.Name
			}
		}
		found = append(found, s)
		return nil
	})
	return found
}

// parse parses an expression whose variables have been replaced.
func parse(expr string) (parser.Expr, error) {
	if i := strings.IndexByte(expr, '$'); i >= 0 {
		return nil, fmt.Errorf("unknown variable at %q", expr[i:])
	}
	return promQL.ParseExpr(expr)
}

// uses says whether a query selects series of a metric.
func uses(q Query, m query.Metric) bool {
	expr := q.Expr
	if q.Kind == Variable {
		expr, _, _ = labelValues(expr)
	}
	parsed, err := promQL.ParseExpr(lintVariables.Expand(expr))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(selectors(parsed), func(s selector) bool {
		have, _, ok := known(s.Name)
		return ok && have.Name == m.Name
	})
}
