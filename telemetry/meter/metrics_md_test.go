package meter

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write METRICS.md from the catalogue")

const metricsFile = "../METRICS.md"

// metricsMD is METRICS.md as the catalogue has it.
func metricsMD() []byte {
	var b bytes.Buffer
	b.WriteString(`# Metrics

Every metric that autopipe exports, what it says, and a query that uses it. The first name is OpenTelemetry's, the second
Prometheus's; an OTLP path translates the one into the other, so queries and dashboards serve both. This page is made from
the code: ` + "`go test ./telemetry/meter -run MetricsMD -update`" + `.

Labels, which are OpenTelemetry's attributes: all metrics but ` + "`autopipe_build_info`" + ` have ` + "`pipe`" + ` (WithName); the counters,
histograms, queue depth and batches in flight have ` + "`node`" + ` (host:port, where each node has lanes of its own; the series of a node that is gone disappear); some have one more, given in the table.
Keys, values, arguments, error texts and raw command names are never labels. All values of a label exist at 0 from the start.
` + "`WithCommandNames`" + ` adds ` + "`command`" + ` to the metrics marked with (c): names of autopipe's own table and ` + "`other`" + `.

Histograms of seconds have the bounds 10, 25, 50, 100, 250, 500 us, 1, 2.5, 5, 10, 25, 50, 100, 250, 500 ms, 1, 2.5, 5, 10 s,
so "how many took at most 1 ms" has an exact answer; sizes have the powers of two.

What adds up, at rest and for each pipe:

* the sum of ` + "`autopipe_commands_total`" + ` is the number of commands that returned to their callers
* ` + "`autopipe_batch_size_sum`" + ` = ` + "`autopipe_queue_wait_duration_seconds_count`" + ` = sendings of batched commands, retries included
* ` + "`autopipe_command_duration_seconds_count`" + ` = ` + "`autopipe_commands_total`" + ` less ` + "`autopipe_direct_total`" + ` less the rejected ones
* ` + "`autopipe_flushes_total`" + ` = ` + "`autopipe_batch_size_count`" + ` = round trips of batches

`)
	section := func(title string, kinds func(*Metric) bool) {
		fmt.Fprintf(&b, "## %s\n\n| metric | kind | meaning | a query |\n|---|---|---|---|\n", title)
		for _, m := range Catalogue {
			if !kinds(m) {
				continue
			}
			kind := string(m.Kind)
			if m.Unit != "" {
				kind += ", " + m.Unit
			}
			meaning := m.Help
			if m.Label != "" {
				meaning += fmt.Sprintf(" Label `%s`.", m.Label)
			}
			if m == ConfigInfo || m == BuildInfo {
				labels := BuildLabels()
				if m == ConfigInfo {
					labels = ConfigLabels(telemetry.Pipe{})
				}
				var keys []string
				for _, l := range labels {
					keys = append(keys, "`"+l.Key+"`")
				}
				meaning += " Labels " + strings.Join(keys, ", ") + "."
			}
			if m.ByCommand {
				meaning += " (c)"
			}
			if m.OptIn != "" {
				meaning += fmt.Sprintf(" Opt-in: %s.", m.OptIn)
			}
			fmt.Fprintf(&b, "| `%s`<br>`%s` | %s | %s | `%s` |\n", m.Name, m.Prometheus, kind, meaning, strings.ReplaceAll(m.PromQL, "|", "\\|"))
		}
		b.WriteString("\n")
	}
	section("Traffic", func(m *Metric) bool { return m.Counts != nil || m.Distribution != nil })
	section("State", func(m *Metric) bool { return m.Kind == Gauge && m.PoolValue == nil })
	section("OpenTelemetry's database convention", func(m *Metric) bool { return m == DBOperationDuration })
	section("Connection pool", func(m *Metric) bool { return m.PoolValue != nil })

	values := func(title, metric string, n int, name, doc func(int) string) {
		fmt.Fprintf(&b, "## %s\n\nOf `%s`.\n\n| value | meaning |\n|---|---|\n", title, metric)
		for i := range n {
			fmt.Fprintf(&b, "| `%s` | %s |\n", name(i), doc(i))
		}
		b.WriteString("\n")
	}
	values("Outcomes", Commands.Prometheus, telemetry.NumOutcomes,
		func(i int) string { return telemetry.Outcome(i).String() }, func(i int) string { return telemetry.Outcome(i).Doc() })
	values("Flush reasons", Flushes.Prometheus, telemetry.NumFlushReasons,
		func(i int) string { return telemetry.FlushReason(i).String() }, func(i int) string { return telemetry.FlushReason(i).Doc() })
	values("Reasons to go directly", Direct.Prometheus, telemetry.NumDirectReasons,
		func(i int) string { return telemetry.DirectReason(i).String() }, func(i int) string { return telemetry.DirectReason(i).Doc() })
	values("Causes of retries", Retries.Prometheus, telemetry.NumRetryCauses,
		func(i int) string { return telemetry.RetryCause(i).String() }, func(i int) string { return telemetry.RetryCause(i).Doc() })
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

func TestMetricsMD(t *testing.T) {
	want := metricsMD()
	if *update {
		if err := os.WriteFile(metricsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(metricsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("METRICS.md and the code differ; write it with: go test ./telemetry/meter -run MetricsMD -update")
	}
}

// The queries must be valid and about their metric.
func TestQueries(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is missing; install it with: apt-get install prometheus")
	}
	var rules bytes.Buffer
	rules.WriteString("groups:\n- name: queries\n  rules:\n")
	for i, m := range Catalogue {
		if !strings.Contains(m.PromQL, m.Prometheus) {
			t.Errorf("%s: the query is about something else: %s", m.Name, m.PromQL)
		}
		fmt.Fprintf(&rules, "  - record: query:%d\n    expr: '%s'\n", i, strings.ReplaceAll(m.PromQL, "'", "''"))
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, rules.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool check rules: %v\n%s", err, out)
	}
}
