package demo

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// startDemo runs a demo on a redis-server of its own until the end of the test.
func startDemo(t *testing.T, args ...string) *Demo {
	t.Helper()
	srv := redistest.Run(t)
	cfg, err := ParseFlags(append([]string{"-redis", srv.Addr(), "-listen", "127.0.0.1:0"}, args...), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	d, err := Start(t.Context(), cfg, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return d
}

// get reads a page of the demo as curl would.
func get(t *testing.T, d *Demo, path, accept string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+d.Addr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", path, resp.Status, err, body)
	}
	return body
}

func families(t *testing.T, d *Demo) map[string]*dto.MetricFamily {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	all, err := p.TextToMetricFamilies(bytes.NewReader(get(t, d, "/metrics", "text/plain")))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func label(m *dto.Metric, key string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == key {
			return l.GetValue()
		}
	}
	return ""
}

// sum adds counters and gauges, and the counts of histograms, over the series whose label has the value.
func sum(f *dto.MetricFamily, key, value string) (n float64, series int) {
	for _, m := range f.GetMetric() {
		if key == "" || label(m, key) == value {
			n += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			series++
		}
	}
	return n, series
}

// unreachable are the series that stay at zero, and why. They are checked to do so: one that moves belongs to the others.
var unreachable = map[string]string{
	"autopipe_pool_waits_total{pool=pipeline}":                 "go-redis never waits for a pipeline connection: with none free it takes one of the main pool",
	"autopipe_pool_wait_duration_seconds_total{pool=pipeline}": "the same",
	"autopipe_pool_timeouts_total{pool=pipeline}":              "the same",
}

// idle lists the series of the catalogue that are missing, and the counters and histograms that stand at zero and should
// not, or should and do not: for a metric with a label, each of its values.
func idle(all map[string]*dto.MetricFamily) (missing, still []string) {
	for _, m := range meter.Catalogue {
		f, values := all[m.Prometheus], m.Values
		if m.Label == "" {
			values = []string{""}
		}
		for _, v := range values {
			name := m.Prometheus
			if m.Label != "" {
				name += "{" + m.Label + "=" + v + "}"
			}
			switch n, series := sum(f, m.Label, v); {
			case series == 0:
				missing = append(missing, name)
			case m.Kind != meter.Gauge && (n == 0) != (unreachable[name] != ""):
				still = append(still, name)
			}
		}
	}
	return missing, still
}

// What the dashboards show must be there to be seen: one cycle of the load moves every counter for every value of its
// label.
func TestEverySeriesMoves(t *testing.T) {
	d := startDemo(t, "-cycle", "20s", "-rate", "4000", "-callers", "128", "-traces", "0.05")
	missing, _ := idle(families(t, d))
	if len(missing) > 0 {
		t.Errorf("missing from the start: %v", missing)
	}
	// The machine may be busy with other tests, and a fault then hit nobody: a second cycle is granted.
	var still []string
	for end := time.Now().Add(50 * time.Second); time.Now().Before(end) && d.Cycles() < 2; time.Sleep(500 * time.Millisecond) {
		if missing, still = idle(families(t, d)); len(still) == 0 && d.Cycles() > 0 {
			break
		}
	}
	if len(missing)+len(still) > 0 {
		t.Errorf("after %d cycles missing: %v; at zero, or not at zero though unreachable: %v", d.Cycles(), missing, still)
	}
	t.Run("nodes", func(t *testing.T) {
		for _, node := range nodeNames {
			if n, _ := sum(families(t, d)[meter.Flushes.Prometheus], meter.LabelNode, node); n == 0 {
				t.Errorf("no batch for %s", node)
			}
		}
	})
	t.Run("own metrics", func(t *testing.T) {
		all := families(t, d)
		for _, v := range d.cfg.Scenarios {
			for _, name := range []string{MetricOps, MetricBusy, MetricLatency} {
				if n, _ := sum(all[name], "scenario", v.Name); n == 0 {
					t.Errorf("%s is zero for %s", name, v.Name)
				}
			}
			if n, _ := sum(all[MetricFailures], "scenario", v.Name); n != 0 {
				t.Errorf("%s failed %g times", v.Name, n)
			}
		}
		if n, series := sum(all[MetricPhase], "", ""); n != 1 || series != int(numPhases) {
			t.Errorf("%g of %d phases at a time", n, series)
		}
	})
	t.Run("promtool", func(t *testing.T) {
		tool, err := exec.LookPath("promtool")
		if err != nil {
			t.Fatal("promtool is missing; install it with: apt-get install -y prometheus")
		}
		cmd := exec.Command(tool, "check", "metrics")
		cmd.Stdin = bytes.NewReader(get(t, d, "/metrics", "text/plain"))
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("promtool check metrics: %v\n%s", err, out)
		}
	})
	t.Run("exemplars", func(t *testing.T) {
		page := string(get(t, d, "/metrics", "application/openmetrics-text; version=1.0.0"))
		for _, m := range []*meter.Metric{meter.QueueWait, meter.BatchDuration, meter.CommandDuration} {
			if !regexp.MustCompile(m.Prometheus + `_bucket\{.*# \{.*trace_id="[0-9a-f]{32}"`).MatchString(page) {
				t.Errorf("%s has no exemplar", m.Prometheus)
			}
		}
		if !strings.HasSuffix(page, "# EOF\n") {
			t.Error("no OpenMetrics")
		}
	})
	t.Run("pages", func(t *testing.T) {
		if got := string(get(t, d, "/healthz", "")); got != "ok\n" {
			t.Errorf("healthz: %q", got)
		}
		if stats := string(get(t, d, "/stats", "")); !strings.Contains(stats, `"orders":{`) {
			t.Errorf("stats: %s", stats)
		}
		if prof := get(t, d, "/debug/pprof/goroutine?debug=1", ""); !bytes.Contains(prof, []byte("goroutine profile")) {
			t.Errorf("pprof: %.200s", prof)
		}
	})
}

// A Redis that is not there is told at once, and nothing is left running (goleak looks).
func TestNoRedis(t *testing.T) {
	cfg, err := ParseFlags([]string{"-redis", "127.0.0.1:1", "-listen", "127.0.0.1:0"}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	d, err := Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err == nil {
		_ = d.Close()
		t.Fatal("it started without a Redis")
	}
	if !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("the error does not name the address: %v", err)
	}
}

func TestFlags(t *testing.T) {
	for _, bad := range [][]string{
		{"-redis", ""}, {"-callers", "3"}, {"-rate", "1"}, {"-cycle", "1s"}, {"-duration", "-1s"}, {"-slot", "0"},
		{"-traces", "2"}, {"-scenarios", "nobody"}, {"-otlp", "localhost:4317"}, {"-otlp-every", "0"}, {"-pyroscope", "grpc://h:1"}, {"extra"},
	} {
		if _, err := ParseFlags(bad, io.Discard); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	c, err := ParseFlags([]string{"-redis", "a:1, b:2", "-otlp", "grpc://c:4317", "-otlp-metrics", "http://m:9090/x", "-scenarios", ""}, io.Discard)
	if err != nil || !slices.Equal(c.Redis, []string{"a:1", "b:2"}) || c.OTLPTraces != "grpc://c:4317" ||
		c.OTLPMetrics != "http://m:9090/x" || len(c.Scenarios) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}
