package check

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// lintInterval stands for $__rate_interval: no query has this window by chance.
const lintInterval = 83 * time.Second

// lintVariables make expressions of dashboards parse; each value can be recognised.
var lintVariables = Variables{
	"__rate_interval": lintInterval.String(),
	"job":             "$job", "instance": "$instance", "pipe": "$pipe", "node": "$node", "redis": "$redis",
}

// Expression tells what is wrong with a query: syntax, metrics or label values that do not exist, counters that are
// shown as they are, windows of its own, and, in dashboards, series that the variables do not narrow.
func Expression(q Query) (found problems) {
	expr := q.Expr
	if q.Kind == Variable {
		metric, _, ok := labelValues(expr)
		if !ok {
			found.add("no label_values(metric, label): %s", expr)
			return found
		}
		expr = metric
	}
	parsed, err := promQL.ParseExpr(lintVariables.Expand(expr))
	if err != nil {
		found.add("%v in %s", err, expr)
		return found
	}
	inRules := q.Kind == Recording || q.Kind == Alert
	for _, s := range selectors(parsed) {
		if inRules && strings.HasPrefix(s.Name, "job_pipe:") {
			continue // recorded; the rules' own test knows whether it is
		}
		m, part, ok := known(s.Name)
		if !ok {
			found.add("no metric is called %q", s.Name)
			continue
		}
		matchers(m, part, s.LabelMatchers, &found)
		if q.Kind == Variable {
			continue
		}
		rate := s.call == "rate" || s.call == "increase"
		switch {
		case cumulative(m, part) && !rate:
			found.add("%s only grows: it belongs under rate or increase", s.Name)
		case !cumulative(m, part) && rate:
			found.add("%s is a gauge: its rate means nothing", s.Name)
		case !inRules && s.window != 0 && s.window != lintInterval:
			found.add("%s has a window of its own, not $__rate_interval", s.Name)
		}
		if !inRules {
			narrowed(m, s.LabelMatchers, &found)
		}
	}
	groups(parsed, &found)
	return found
}

// matchers wants labels that the metric has, with values that they can have.
func matchers(m query.Metric, part string, all []*labels.Matcher, found *problems) {
	for _, match := range all {
		switch {
		case match.Name == model.MetricNameLabel, match.Name == query.LabelJob, match.Name == query.LabelInstance,
			match.Name == query.LabelLE && part == "_bucket":
		case !slices.Contains(m.Labels, match.Name):
			found.add("%s has no label %s", m.Name, match.Name)
		case match.Name == m.Own && len(m.Values) > 0:
			for _, v := range strings.Split(match.Value, "|") {
				if !slices.Contains(m.Values, v) {
					found.add("%s of %s is never %q", m.Own, m.Name, v)
				}
			}
		}
	}
}

// narrowed wants every series of a dashboard to follow the variables that its labels have.
func narrowed(m query.Metric, all []*labels.Matcher, found *problems) {
	has := func(label, variable string) bool {
		return slices.ContainsFunc(all, func(match *labels.Matcher) bool {
			return match.Name == label && match.Type == labels.MatchRegexp && match.Value == "$"+variable
		})
	}
	if strings.HasPrefix(m.Name, "redis_") {
		if !has(query.LabelInstance, "redis") {
			found.add("%s does not follow $redis", m.Name)
		}
		return
	}
	for _, l := range wanted[1:] {
		owned := slices.Contains(m.Labels, l) && !wholeProcess(all)
		if (l == query.LabelJob || l == query.LabelInstance || owned) && !has(l, l) {
			found.add("%s does not follow $%s", m.Name, l)
		}
	}
}

// wholeProcess says that a query leaves out pipes and nodes on purpose, as what the process spends is for all of them.
func wholeProcess(all []*labels.Matcher) bool {
	return !slices.ContainsFunc(all, func(match *labels.Matcher) bool {
		return match.Name == meter.LabelPipe || match.Name == meter.LabelNode
	})
}

// groups wants aggregations to keep labels that some metric below them has.
func groups(expr parser.Expr, found *problems) {
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		agg, ok := node.(*parser.AggregateExpr)
		if !ok {
			return nil
		}
		for _, l := range agg.Grouping {
			if !slices.ContainsFunc(selectors(agg.Expr), func(s selector) bool {
				m, part, _ := known(s.Name)
				return l == query.LabelJob || l == query.LabelInstance || l == query.LabelLE && part == "_bucket" || slices.Contains(m.Labels, l)
			}) {
				found.add("%s groups by %s, which nothing in it has", agg, l)
			}
		}
		return nil
	})
}

var labelValuesCall = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// labelValues takes a variable's query apart.
func labelValues(expr string) (metric, label string, ok bool) {
	m := labelValuesCall.FindStringSubmatch(expr)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}
