package check

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/goautopipe/redis-autopipe/dashboards"
)

// canned is a Prometheus that answers every query alike, but those that contain a word of missing with nothing.
type canned struct {
	value   float64
	labels  model.Metric
	missing string
	asked   []string
}

func (c *canned) has(query string) bool {
	c.asked = append(c.asked, query)
	return c.missing == "" || !strings.Contains(query, c.missing)
}

func (c *canned) Query(_ context.Context, query string, _ time.Time, _ ...v1.Option) (model.Value, v1.Warnings, v1.Infos, error) {
	if !c.has(query) {
		return model.Vector{}, nil, nil, nil
	}
	return model.Vector{{Metric: c.labels, Value: model.SampleValue(c.value)}}, nil, nil, nil
}

func (c *canned) QueryRange(_ context.Context, query string, _ v1.Range, _ ...v1.Option) (model.Value, v1.Warnings, v1.Infos, error) {
	if !c.has(query) {
		return model.Matrix{}, nil, nil, nil
	}
	return model.Matrix{{Metric: c.labels, Values: []model.SamplePair{{Value: model.SampleValue(c.value)}}}}, nil, nil, nil
}

func (c *canned) LabelValues(_ context.Context, label string, matches []string, _, _ time.Time, _ ...v1.Option) (model.LabelValues, v1.Warnings, v1.Infos, error) {
	if !c.has(matches[0]) {
		return nil, nil, nil, nil
	}
	return model.LabelValues{"", "a.b", "c"}, nil, nil, nil
}

// everyLabel satisfies all legends.
var everyLabel = model.Metric{"pipe": "p", "reason": "r", "outcome": "o", "cause": "c", "instance": "i", "scenario": "s", "cmd": "get", "le": "1"}

func live(c *canned) Live { return Live{API: c, Window: 15 * time.Second, Span: time.Minute} }

func TestEverythingPasses(t *testing.T) {
	c := &canned{value: 1, labels: everyLabel}
	r, err := live(c).Everything(t.Context(), dashboards.Files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failures {
		t.Error(f)
	}
	for _, k := range []Kind{Target, Variable, Annotation, Recording, Alert} {
		if r.Checked[k] == 0 {
			t.Errorf("no %s was checked", k)
		}
	}
	if len(r.Unasked) != 5 {
		t.Errorf("%d panels ask no Prometheus, not the 5 of text and flame graph: %q", len(r.Unasked), r.Unasked)
	}
	for _, q := range c.asked {
		if strings.Contains(q, "$") {
			t.Errorf("a variable was left: %s", q)
		}
	}
}

// A metric that is missing must fail what uses it, whatever kind it is.
func TestMissingIsNoticed(t *testing.T) {
	for missing, want := range map[string][]string{
		"autopipe_queue_depth":                    {"autopipe-batching.json, panel 6", "AutopipeQueueSaturated", "AutopipeStalled"},
		"autopipe_config_info":                    {"annotation Config changes"},
		"process_start_time_seconds":              {"annotation Restarts"},
		"redis_up":                                {"autopipe-redis.json: variable redis"},
		"job_pipe:autopipe_commands:lost_ratio3d": {"the recorded job_pipe:autopipe_commands:lost_ratio3d", "AutopipeErrorBudgetBurn warning"},
	} {
		r, err := live(&canned{value: 1, labels: everyLabel, missing: missing}).Everything(t.Context(), dashboards.Files, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !mentions(r.Failures, w) {
				t.Errorf("without %s, %s did not fail: %q", missing, w, r.Failures)
			}
		}
	}
}

func TestWhatIsNoData(t *testing.T) {
	target := Query{Kind: Target, Expr: "up", Legend: "{{pipe}}"}
	for name, c := range map[string]struct {
		canned
		err string
	}{
		"a value":          {canned{value: 0, labels: everyLabel}, ""},
		"nothing":          {canned{missing: "up"}, "no data"},
		"only NaN":         {canned{value: math.NaN(), labels: everyLabel}, "no data"},
		"infinite":         {canned{value: math.Inf(1), labels: everyLabel}, "no data"},
		"no label to show": {canned{value: 1, labels: model.Metric{"job": "j"}}, "the legend names"},
	} {
		err := live(&c.canned).Check(t.Context(), target, nil)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
	}
	unknown := Query{Kind: Target, Expr: "up{pipe=~\"$shop\"}"}
	if err := live(&canned{value: 1}).Check(t.Context(), unknown, nil); err == nil || errors.Is(err, errNoData) {
		t.Errorf("an unknown variable: %v", err)
	}
}
