package check

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-jsonnet"
	"go.yaml.in/yaml/v3"

	"github.com/goautopipe/redis-autopipe/dashboards"
)

// The mixin must have all dashboards and rules, as they are.
func TestMixin(t *testing.T) {
	vm := jsonnet.MakeVM()
	out, err := vm.EvaluateAnonymousSnippet("test", `
		local m = import '../../mixin.libsonnet';
		{ dashboards: m.grafanaDashboards, rules: m.prometheusRules, alerts: m.prometheusAlerts }`)
	if err != nil {
		t.Fatal(err)
	}
	var mixin struct {
		Dashboards    map[string]any
		Rules, Alerts any
	}
	if err := json.Unmarshal([]byte(out), &mixin); err != nil {
		t.Fatal(err)
	}
	files := map[string]any{}
	paths, err := fs.Glob(dashboards.Files, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		files[p] = load(t, p)
	}
	if diff := cmp.Diff(files, mixin.Dashboards); diff != "" {
		t.Errorf("dashboards, file and mixin:\n%s", diff)
	}
	if diff := cmp.Diff(load(t, "rules/autopipe-recording.yml"), mixin.Rules); diff != "" {
		t.Errorf("recording rules, file and mixin:\n%s", diff)
	}
	if diff := cmp.Diff(load(t, "rules/autopipe-alerts.yml"), mixin.Alerts); diff != "" {
		t.Errorf("alerts, file and mixin:\n%s", diff)
	}
}

// load reads YAML, of which JSON is a part, into what JSON decodes to.
func load(t *testing.T, path string) any {
	t.Helper()
	raw, err := dashboards.Files.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	clean, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	v = nil
	if err := json.Unmarshal(clean, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// datasources are Grafana's provisioned data sources, as far as they refer to each other.
type datasources struct {
	Datasources []struct {
		UID, Type, URL string
		JSONData       struct {
			ExemplarTraceIDDestinations []struct{ Name, DatasourceUID string }
			TracesToMetrics             struct {
				DatasourceUID string
				Queries       []struct{ Query string }
			}
			TracesToProfiles struct{ DatasourceUID, ProfileTypeID string }
		}
	}
}

// A data source that another leads to must exist, and the path must be whole: exemplar, trace, profile.
func TestProvisioning(t *testing.T) {
	raw, err := json.Marshal(load(t, "provisioning/datasources/autopipe.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var sources datasources
	if err := json.Unmarshal(raw, &sources); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{"": "missing"}
	for _, d := range sources.Datasources {
		types[d.UID] = d.Type
	}
	leads := map[string]string{} // type to type
	for _, d := range sources.Datasources {
		for _, e := range d.JSONData.ExemplarTraceIDDestinations {
			if e.Name != "trace_id" {
				t.Errorf("exemplars carry trace_id, not %s", e.Name)
			}
			leads[d.Type] = types[e.DatasourceUID]
		}
		if p := d.JSONData.TracesToProfiles; p.ProfileTypeID != "" {
			leads[d.Type] = types[p.DatasourceUID]
		}
		for _, q := range d.JSONData.TracesToMetrics.Queries {
			if got := types[d.JSONData.TracesToMetrics.DatasourceUID]; got != "prometheus" {
				t.Errorf("the metrics of traces are in a data source of type %q", got)
			}
			expr := strings.ReplaceAll(q.Query, "$$__tags", `pipe="p"`) // $$ is a $ to Grafana's provisioning
			for _, problem := range Expression(Query{Kind: Alert, Expr: expr}) {
				t.Errorf("%s: %s", q.Query, problem)
			}
		}
	}
	want := map[string]string{"prometheus": "tempo", "tempo": "grafana-pyroscope-datasource"}
	if diff := cmp.Diff(want, leads); diff != "" {
		t.Errorf("which type leads to which, want and have:\n%s", diff)
	}
	if load(t, "provisioning/dashboards/autopipe.yml") == nil {
		t.Error("the dashboards' provider is empty")
	}
}
