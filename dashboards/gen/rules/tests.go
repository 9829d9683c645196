package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// Test files as promtool reads them.
type (
	testFile struct {
		RuleFiles []string `yaml:"rule_files"`
		Interval  string   `yaml:"evaluation_interval"`
		Tests     []test   `yaml:"tests"`
	}
	test struct {
		Name   string      `yaml:"name"`
		Every  string      `yaml:"interval"`
		Input  []series    `yaml:"input_series"`
		Alerts []alertTest `yaml:"alert_rule_test"`
	}
	series struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	}
	alertTest struct {
		At       string     `yaml:"eval_time"`
		Alert    string     `yaml:"alertname"`
		Expected []expected `yaml:"exp_alerts,omitempty"` // none: it must not fire
	}
	expected struct {
		Labels      map[string]string `yaml:"exp_labels"`
		Annotations map[string]string `yaml:"exp_annotations"`
	}
)

// The labels of the pipe in all tests.
const (
	testJob      = "shop"
	testInstance = "shop-0:9464"
	testPipe     = "orders"
)

// in is an input series of the test's pipe. Values are in promtool's notation: start+stepxcount, one every 15 s.
func in(m query.Metric, values string, more ...query.Match) series {
	labels := []query.Match{{Label: query.LabelJob, Op: "=", Value: testJob}, {Label: query.LabelInstance, Op: "=", Value: testInstance}}
	if slices.Contains(m.Labels, meter.LabelPipe) {
		labels = append(labels, query.Match{Label: meter.LabelPipe, Op: "=", Value: testPipe})
	}
	return series{query.Scope{Match: labels}.Select(m, more...), values}
}

// buckets are the input of a histogram whose values all fall into (low, high].
func buckets(m query.Metric, low, high, values string) []series {
	b := m.Bucket()
	b.Labels = append(slices.Clone(b.Labels), query.LabelLE)
	le := func(bound string) query.Match { return query.Match{Label: query.LabelLE, Op: "=", Value: bound} }
	return []series{in(b, "0x400", le(low)), in(b, values, le(high)), in(b, values, le("+Inf"))}
}

// scene is a course of events: an alert that must not fire at one time, and must at a later one ("" for never).
type scene struct {
	name, alert   string
	input         []series
	quiet, firing string
	severity      string   // of the one to fire, if several have the name
	without       []string // labels that the alert does not carry
	node          string   // that the alert carries, "" for none
	description   string   // of the alert, as rendered
}

// tests are the tests of the alerts, or of one of them.
func tests(alert string) testFile {
	file := testFile{RuleFiles: []string{RecordingFile, AlertsFile}, Interval: "30s"}
	for _, s := range scenes() {
		if alert != "" && s.alert != alert {
			continue
		}
		t := test{Name: s.name, Every: "15s", Input: s.input}
		if s.quiet != "" {
			t.Alerts = append(t.Alerts, alertTest{At: s.quiet, Alert: s.alert})
		}
		if s.firing != "" {
			t.Alerts = append(t.Alerts, alertTest{At: s.firing, Alert: s.alert, Expected: []expected{s.expected()}})
		}
		file.Tests = append(file.Tests, t)
	}
	return file
}

// expected is what Alertmanager would get.
func (s scene) expected() expected {
	for _, r := range Alerts().Groups[0].Rules {
		if r.Alert != s.alert || s.severity != "" && r.Labels["severity"] != s.severity {
			continue
		}
		labels := map[string]string{query.LabelJob: testJob, query.LabelInstance: testInstance, meter.LabelPipe: testPipe}
		if s.node != "" {
			labels[meter.LabelNode] = s.node
		}
		for _, l := range s.without {
			delete(labels, l)
		}
		maps.Copy(labels, r.Labels)
		annotations := maps.Clone(r.Annotations)
		annotations["description"] = s.description
		return expected{labels, annotations}
	}
	panic(fmt.Sprintf("no alert is called %s", strings.TrimSpace(s.alert+" "+s.severity)))
}
