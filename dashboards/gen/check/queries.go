package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"sync"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"go.yaml.in/yaml/v3"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/rules"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/schema"
)

var expandable = regexp.MustCompile(`\$\{\w+\}|\$\w+`)

// Kind is where a query comes from.
type Kind string

// The kinds.
const (
	Target     Kind = "target"
	Variable   Kind = "variable"
	Annotation Kind = "annotation"
	Recording  Kind = "recording rule"
	Alert      Kind = "alert"
)

// Query is one query of a dashboard or rule.
type Query struct {
	Where string // for people
	Kind  Kind
	Expr  string
	// Instant says that a target asks for one moment.
	Instant bool
	Legend  string
	// Interval is the least step that the target's panel asks for, "" if none.
	Interval string
}

// Dashboards reads all dashboards by Grafana's schema. What the schema does not have is an error.
func Dashboards(files fs.FS) (map[string]*schema.Dashboard, error) {
	paths, err := fs.Glob(files, "*.json")
	if err != nil {
		return nil, err
	}
	all := map[string]*schema.Dashboard{}
	var errs []error
	for _, p := range paths {
		raw, err := fs.ReadFile(files, p)
		if err != nil {
			return nil, err
		}
		d, err := decode(raw)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p, err))
			continue
		}
		all[p] = d
	}
	return all, errors.Join(errs...)
}

// decode reads a dashboard, strictly first. The SDK's strict decoder returns an empty list of errors, which is not nil,
// and stops at it: it judges well but leaves panels out. So the lenient one reads what the strict one has approved.
func decode(raw []byte) (*schema.Dashboard, error) {
	registerPlugins()
	err := new(schema.Dashboard).UnmarshalJSONStrict(raw)
	if list, ok := errors.AsType[cog.BuildErrors](err); !ok && err != nil || len(list) > 0 {
		return nil, err
	}
	d := &schema.Dashboard{}
	return d, json.Unmarshal(raw, d)
}

var registerPlugins = sync.OnceFunc(plugins.RegisterDefaultPlugins)

// Panels are the panels of a dashboard, those in rows included.
func Panels(d *schema.Dashboard) []*dashboard.Panel {
	var panels []*dashboard.Panel
	for _, p := range d.Panels {
		if p.Panel != nil {
			panels = append(panels, p.Panel)
		}
		if p.RowPanel != nil {
			for i := range p.RowPanel.Panels {
				panels = append(panels, &p.RowPanel.Panels[i])
			}
		}
	}
	return panels
}

// Unqueried are the panel types that ask no Prometheus, and why. Every other type must have targets.
var Unqueried = map[string]string{
	"text":       "it shows fixed text",
	"flamegraph": "it asks Pyroscope",
}

// DashboardQueries are all queries of a dashboard.
func DashboardQueries(file string, d *schema.Dashboard) ([]Query, error) {
	var all []Query
	for _, p := range Panels(d) {
		if Unqueried[p.Type] != "" {
			continue
		}
		where := fmt.Sprintf("%s, panel %d %q", file, *p.Id, *p.Title)
		if len(p.Targets) == 0 {
			return nil, fmt.Errorf("%s: a %s without targets", where, p.Type)
		}
		for _, t := range p.Targets {
			q, ok := promTarget(t)
			if !ok {
				return nil, fmt.Errorf("%s: a target of type %s", where, t.DataqueryType())
			}
			one := Query{Where: where + ", target " + *q.RefId, Kind: Target, Expr: q.Expr}
			one.Instant = q.Instant != nil && *q.Instant
			if q.LegendFormat != nil {
				one.Legend = *q.LegendFormat
			}
			if p.Interval != nil {
				one.Interval = *p.Interval
			}
			all = append(all, one)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == dashboard.VariableTypeQuery {
			all = append(all, Query{Where: file + ", variable " + v.Name, Kind: Variable, Expr: *v.Query.String})
		}
	}
	for _, a := range d.Annotations.List {
		all = append(all, Query{Where: file + ", annotation " + a.Name, Kind: Annotation, Expr: *a.Expr})
	}
	return all, nil
}

// promTarget is a target for Prometheus.
func promTarget(t any) (prometheus.Dataquery, bool) {
	switch q := t.(type) {
	case prometheus.Dataquery:
		return q, true
	case *prometheus.Dataquery:
		return *q, true
	}
	return prometheus.Dataquery{}, false
}

// RuleQueries are the expressions of all rules.
func RuleQueries(files fs.FS) ([]Query, error) {
	var all []Query
	for _, name := range []string{rules.RecordingFile, rules.AlertsFile} {
		raw, err := fs.ReadFile(files, path.Join("rules", name))
		if err != nil {
			return nil, err
		}
		var file rules.File
		if err := yaml.Unmarshal(raw, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, g := range file.Groups {
			for _, r := range g.Rules {
				if r.Record != "" {
					all = append(all, Query{Where: name + ", " + r.Record, Kind: Recording, Expr: r.Expr})
				} else {
					all = append(all, Query{Where: name + ", " + r.Alert + " " + r.Labels["severity"], Kind: Alert, Expr: r.Expr})
				}
			}
		}
	}
	return all, nil
}

// AllQueries are the queries of all dashboards and rules.
func AllQueries(files fs.FS) ([]Query, error) {
	boards, err := Dashboards(files)
	if err != nil {
		return nil, err
	}
	all, err := RuleQueries(files)
	if err != nil {
		return nil, err
	}
	for file, d := range boards {
		queries, err := DashboardQueries(file, d)
		if err != nil {
			return nil, err
		}
		all = append(all, queries...)
	}
	return all, nil
}
