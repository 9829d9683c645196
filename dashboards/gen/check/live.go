package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/schema"
)

// API is what a live check asks a Prometheus.
type API interface {
	Query(ctx context.Context, query string, ts time.Time, opts ...v1.Option) (model.Value, v1.Warnings, v1.Infos, error)
	QueryRange(ctx context.Context, query string, r v1.Range, opts ...v1.Option) (model.Value, v1.Warnings, v1.Infos, error)
	LabelValues(ctx context.Context, label string, matches []string, start, end time.Time, opts ...v1.Option) (model.LabelValues, v1.Warnings, v1.Infos, error)
}

// Live asks a Prometheus for the data behind the queries.
type Live struct {
	API API
	// Window is what $__rate_interval becomes: at least four scrapes, as in Grafana.
	Window time.Duration
	// Span is the time that a graph shows.
	Span time.Duration
}

// errNoData says that a query found nothing that a panel could show.
var errNoData = errors.New("no data")

// Variables gives a dashboard's variables the values that "All" has in Grafana.
func (l Live) Variables(ctx context.Context, d *schema.Dashboard) (Variables, error) {
	vars := Variables{}
	for _, v := range d.Templating.List {
		if v.Type != dashboard.VariableTypeQuery {
			continue
		}
		metric, label, ok := labelValues(vars.Expand(*v.Query.String))
		if !ok {
			return nil, fmt.Errorf("variable %s: no label_values(metric, label)", v.Name)
		}
		now := time.Now()
		values, _, _, err := l.API.LabelValues(ctx, label, []string{metric}, now.Add(-l.Span), now)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, err)
		}
		var options []string
		for _, value := range values {
			if value != "" {
				// Quoted twice, for the expression and for PromQL's string.
				options = append(options, strings.ReplaceAll(regexp.QuoteMeta(string(value)), `\`, `\\`))
			}
		}
		if len(options) == 0 {
			return nil, fmt.Errorf("variable %s: %w for %s", v.Name, errNoData, *v.Query.String)
		}
		vars[v.Name] = "(" + strings.Join(options, "|") + ")"
		if v.AllValue != nil {
			vars[v.Name] = *v.AllValue
		}
	}
	return vars, nil
}

// Check evaluates a query and fails if it has nothing to show.
func (l Live) Check(ctx context.Context, q Query, vars Variables) error {
	vars, err := l.windows(q, vars)
	if err != nil {
		return err
	}
	expr, err := parse(vars.Expand(q.Expr))
	if err != nil {
		return err
	}
	switch q.Kind {
	case Target:
		return l.show(ctx, q, expr.String())
	case Annotation, Alert:
		// Most of the time these find nothing, as they should. What they compare must be there.
		for _, part := range operands(expr) {
			if err := l.moment(ctx, part); err != nil {
				return fmt.Errorf("%w from its part %s", err, part)
			}
		}
		return nil
	default:
		return l.moment(ctx, expr.String())
	}
}

// windows adds the variables that Grafana itself sets.
func (l Live) windows(q Query, vars Variables) (Variables, error) {
	all := Variables{"__rate_interval": model.Duration(l.Window).String(), "__range": model.Duration(l.Span).String()}
	if q.Interval != "" {
		step, err := model.ParseDuration(q.Interval)
		if err != nil {
			return nil, err
		}
		all["__rate_interval"] = model.Duration(max(l.Window, time.Duration(step)+l.Window/4)).String()
	}
	for name, value := range vars {
		all[name] = value
	}
	return all, nil
}

// show evaluates a target as its panel does, over the graph's time or at its end.
func (l Live) show(ctx context.Context, q Query, expr string) error {
	if q.Instant {
		return l.moment(ctx, expr)
	}
	now := time.Now()
	value, _, _, err := l.API.QueryRange(ctx, expr, v1.Range{Start: now.Add(-l.Span), End: now, Step: l.Span / 30})
	if err != nil {
		return err
	}
	matrix, ok := value.(model.Matrix)
	if !ok {
		return fmt.Errorf("the answer is a %s", value.Type())
	}
	shown := false
	for _, series := range matrix {
		for _, label := range legendLabels(q.Legend) {
			if series.Metric[model.LabelName(label)] == "" {
				return fmt.Errorf("the legend names %q, which %s has not", label, series.Metric)
			}
		}
		for _, sample := range series.Values {
			shown = shown || finite(sample.Value)
		}
	}
	if !shown {
		return errNoData
	}
	return nil
}

// moment evaluates an expression now.
func (l Live) moment(ctx context.Context, expr string) error {
	value, _, _, err := l.API.Query(ctx, expr, time.Now())
	if err != nil {
		return err
	}
	vector, ok := value.(model.Vector)
	if !ok {
		return fmt.Errorf("the answer is a %s", value.Type())
	}
	for _, sample := range vector {
		if finite(sample.Value) {
			return nil
		}
	}
	return errNoData
}

// finite says whether a value can be drawn.
func finite(v model.SampleValue) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

var legendLabel = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// legendLabels are the labels that a legend shows.
func legendLabels(legend string) []string {
	var found []string
	for _, m := range legendLabel.FindAllStringSubmatch(legend, -1) {
		found = append(found, m[1])
	}
	return found
}
