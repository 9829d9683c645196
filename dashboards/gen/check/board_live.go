package check

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/rules"
)

// Report is what a live check of everything found.
type Report struct {
	Checked  map[Kind]int
	Failures []string
	// Unasked are panels that ask no Prometheus, with the reason.
	Unasked []string
}

// Everything checks every target, variable, annotation, recording rule and alert in the files. change may alter a query
// before it is asked; nil changes nothing.
func (l Live) Everything(ctx context.Context, files fs.FS, change func(*Query)) (*Report, error) {
	boards, err := Dashboards(files)
	if err != nil {
		return nil, err
	}
	r := &Report{Checked: map[Kind]int{}}
	for _, file := range slices.Sorted(maps.Keys(boards)) {
		d := boards[file]
		for _, p := range Panels(d) {
			if why := Unqueried[p.Type]; why != "" {
				r.Unasked = append(r.Unasked, fmt.Sprintf("%s, %s: %s", file, panelName(p), why))
			}
		}
		queries, err := DashboardQueries(file, d)
		if err != nil {
			return nil, err
		}
		vars, err := l.Variables(ctx, d)
		if err != nil {
			r.Failures = append(r.Failures, fmt.Sprintf("%s: %v", file, err))
			continue
		}
		l.all(ctx, r, queries, vars, change)
	}
	queries, err := RuleQueries(files)
	if err != nil {
		return nil, err
	}
	l.all(ctx, r, queries, nil, change)
	for _, g := range rules.Recording().Groups {
		for _, rule := range g.Rules { // Prometheus must have loaded and evaluated it too
			l.all(ctx, r, []Query{{Where: "the recorded " + rule.Record, Kind: Recording, Expr: rule.Record}}, nil, nil)
		}
	}
	return r, nil
}

func (l Live) all(ctx context.Context, r *Report, queries []Query, vars Variables, change func(*Query)) {
	for _, q := range queries {
		r.Checked[q.Kind]++
		if q.Kind == Variable {
			continue // its values are in vars, or there would be none
		}
		if change != nil {
			change(&q)
		}
		if err := l.Check(ctx, q, vars); err != nil {
			r.Failures = append(r.Failures, fmt.Sprintf("%s: %v: %s", q.Where, err, q.Expr))
		}
	}
}
