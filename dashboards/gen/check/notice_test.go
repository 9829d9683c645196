package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/goautopipe/redis-autopipe/dashboards"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/rules"
)

// Each rule for dashboards must notice what breaks it.
func TestBoardNotices(t *testing.T) {
	const file = "autopipe-overview.json"
	raw, err := dashboards.Files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, wrong, want string }{
		{`"uid": "autopipe-overview"`, `"uid": "other"`, "the uid is not"},
		{`"graphTooltip": 1`, `"graphTooltip": 0`, "crosshair"},
		{`"id": 2,`, `"id": 1,`, "another panel has its id"},
		{`"id": 2,`, ``, "no id"},
		{`"title": "Commands",`, ``, "no title"},
		{`"description": "Commands that returned to their callers, each second.",`, ``, "no description"},
		{`"unit": "ops",`, ``, "no unit"},
		{`"uid": "${datasource}"`, `"uid": "P1809F7CD0C75ACF3"`, "its data source is no variable"},
		{`"legendFormat": "Commands",`, ``, "without a legend"},
		{`"exemplar": true,`, ``, "without exemplars"},
		{`"x": 4,`, `"x": 2,`, "covers"},
		{`"name": "node"`, `"name": "shard"`, "its variables are"},
		{`changes(process_start_time_seconds{`, `changes(go_info{`, "no annotation shows changes of process_start_time_seconds"},
	} {
		if !strings.Contains(string(raw), c.old) {
			t.Errorf("%s is not in the dashboard", c.old)
			continue
		}
		d, err := decode([]byte(strings.Replace(string(raw), c.old, c.wrong, 1)))
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
		} else if found := Board(file, d); !mentions(found, c.want) {
			t.Errorf("%q in place of %q: want %q, found %q", c.wrong, c.old, c.want, found)
		}
	}
}

// Each rule for queries must notice what breaks it.
func TestExpressionNotices(t *testing.T) {
	const all = `job=~"$job", instance=~"$instance", pipe=~"$pipe", node=~"$node"`
	for _, c := range []struct{ expr, want string }{
		{`sum(rate(autopipe_commands_total{` + all + `}[$__rate_interval]))`, ""},
		{`sum(rate(autopipe_commands_total{` + all + `}[$__rate_interval])`, "unclosed"},
		{`sum(rate(autopipe_commands_total{` + all + `}[5m]))`, "a window of its own"},
		{`sum(rate(autopipe_commands_total{` + all + `}[$__range]))`, "unexpected character in duration"},
		{`sum(autopipe_commands_total{` + all + `})`, "it belongs under rate"},
		{`autopipe_batch_size_bucket{` + all + `}`, "it belongs under rate"},
		{`rate(autopipe_queue_depth{job=~"$job", instance=~"$instance", pipe=~"$pipe"}[$__rate_interval])`, "is a gauge"},
		{`autopipe_queue_depht{` + all + `}`, "no metric is called"},
		{`autopipe_queue_depth{job=~"$job", instance=~"$instance", pipe=~"$pipe", shard="1"}`, "has no label shard"},
		{`rate(autopipe_flushes_total{` + all + `, reason="full"}[$__rate_interval])`, `is never "full"`},
		{`rate(autopipe_flushes_total{` + all + `, reason=~"idle|full"}[$__rate_interval])`, `is never "full"`},
		{`sum by (outcome) (rate(autopipe_flushes_total{` + all + `}[$__rate_interval]))`, "groups by outcome"},
		{`sum by (le) (rate(autopipe_batch_size_sum{` + all + `}[$__rate_interval]))`, "groups by le"},
		{`autopipe_queue_depth{job=~"$job", pipe=~"$pipe"}`, "does not follow $instance"},
		{`rate(autopipe_flushes_total{job=~"$job", instance=~"$instance", pipe=~"$pipe"}[$__rate_interval])`, "does not follow $node"},
		{`redis_up{instance=~"$instance"}`, "does not follow $redis"},
		{`go_goroutines{job=~"$job"}`, "does not follow $instance"},
	} {
		found := Expression(Query{Kind: Target, Expr: c.expr})
		if c.want == "" && len(found) > 0 || c.want != "" && !mentions(found, c.want) {
			t.Errorf("%s: want %q, found %q", c.expr, c.want, found)
		}
	}
}

// Renaming any metric that the dashboards and rules use must be noticed, without a server.
func TestRenamingIsNoticed(t *testing.T) {
	queries, err := AllQueries(dashboards.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range names.All() {
		for _, q := range queries {
			if !uses(q, m) {
				continue
			}
			q.Expr = strings.ReplaceAll(q.Expr, m.Name, "renamed_"+m.Name)
			if found := Expression(q); !mentions(found, "no metric is called \"renamed_") {
				t.Errorf("%s: %s was renamed and nothing was noticed", q.Where, m.Name)
			}
		}
	}
}

// Every metric of the catalogue is on a dashboard, or here with the reason.
func TestEveryMetricIsShown(t *testing.T) {
	absent := map[string]string{
		"db_client_operation_duration_seconds":      "an opt-in of OpenTelemetry users, for dashboards of databases in general",
		"autopipe_pool_hits_total":                  "the misses tell it",
		"autopipe_pool_wait_duration_seconds_total": "the batch's duration has the wait for a connection in it",
		"autopipe_pool_pending_requests":            "a moment's value; the waits count them all",
		"autopipe_pipelines_total":                  "their commands are shown",
	}
	queries, err := AllQueries(dashboards.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range names.All() {
		shown := slices.ContainsFunc(queries, func(q Query) bool { return q.Kind == Target && uses(q, m) || q.Kind == Annotation && uses(q, m) })
		if shown == (absent[m.Name] != "") {
			t.Errorf("%s: shown is %v; the reason given for leaving it out: %q", m.Name, shown, absent[m.Name])
		}
	}
}

// A rule may use a recorded metric only if it is recorded.
func TestRecordedNames(t *testing.T) {
	recorded := map[string]bool{}
	for _, g := range rules.Recording().Groups {
		for _, r := range g.Rules {
			recorded[r.Record] = true
		}
	}
	queries, err := RuleQueries(dashboards.Files)
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, q := range queries {
		expr, err := promQL.ParseExpr(q.Expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range selectors(expr) {
			if strings.Contains(s.Name, ":") {
				used++
				if !recorded[s.Name] {
					t.Errorf("%s uses %s, which is not recorded", q.Where, s.Name)
				}
			}
		}
	}
	if used == 0 {
		t.Error("no recorded metric is used")
	}
}

func mentions(found problems, want string) bool {
	return slices.ContainsFunc(found, func(p string) bool { return strings.Contains(p, want) })
}
