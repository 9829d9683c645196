package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
)

// startPrometheus runs a real one that scrapes target, and returns its URL.
func startPrometheus(t *testing.T, target string) string {
	t.Helper()
	bin, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("prometheus is missing; install it with: apt-get install -y prometheus")
	}
	dir, addr := t.TempDir(), freePort(t)
	config := fmt.Sprintf("global: {scrape_interval: 500ms, scrape_timeout: 500ms}\n"+
		"scrape_configs: [{job_name: e2e, static_configs: [{targets: ['%s']}]}]\n", target)
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+addr, "--enable-feature=exemplar-storage", "--log.level=warn")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		http.DefaultClient.CloseIdleConnections()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("prometheus: %s", text)
		}
	})
	base := "http://" + addr
	eventually(t, "Prometheus is ready", func() bool {
		resp, err := http.Get(base + "/-/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return base
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// ask gets the data of an answer of Prometheus's API.
func ask(t *testing.T, base, path string, form url.Values, data any) {
	t.Helper()
	resp, err := http.PostForm(base+path, form)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &struct{ Data any }{data}); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %v: %s, %v: %s", path, form, resp.Status, err, body)
	}
}

// query evaluates an expression at a time, which is now if it is zero: the values of the series by one of their labels.
func query(t *testing.T, base, expr, label string, at float64) map[string]float64 {
	t.Helper()
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}
	ask(t, base, "/api/v1/query", instant(expr, at), &data)
	n := map[string]float64{}
	for _, r := range data.Result {
		v, err := strconv.ParseFloat(r.Value[1].(string), 64)
		if err != nil {
			t.Fatal(err)
		}
		n[r.Metric[label]] += v
	}
	return n
}

func instant(expr string, at float64) url.Values {
	form := url.Values{"query": {expr}}
	if at > 0 {
		form.Set("time", strconv.FormatFloat(at, 'f', 3, 64))
	}
	return form
}

// lastScrape waits for a scrape that began after end, and not as the first, and returns its time. What is asked for at
// this time is what that scrape brought, even if a later one fails on a busy machine.
func lastScrape(t *testing.T, base string, end time.Time) (at float64) {
	t.Helper()
	eventually(t, "a scrape after the end", func() bool {
		at = query(t, base, "timestamp(up == 1)", "job", 0)["e2e"]
		return at > float64(end.UnixMilli())/1000 && query(t, base, "sum_over_time(up[1h])", "job", at)["e2e"] >= 2
	})
	return at
}

// What a real Prometheus answers is what the callers have seen and what the server has counted: from the callers' own
// books over scrape and storage to the query, nothing is lost.
func TestPrometheusTellsTheTruth(t *testing.T) {
	srv := redistest.Run(t)
	reg := prometheus.NewRegistry()
	rdb := srv.Client(t)
	h := autopipe.New(autopipe.WithObserver(prom.New(reg,
		prom.WithExemplars(), prom.WithCommandNames(), prom.WithPoolStats(rdb.PoolStats))))
	rdb.AddHook(h)
	app := httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	defer app.Close()
	base := startPrometheus(t, app.Listener.Addr().String())

	tp := trace.NewTracerProvider()
	defer func() { _ = tp.Shutdown(context.Background()) }()
	traces := map[string]bool{}
	contexts := make([]context.Context, callers)
	for i := range contexts {
		ctx, span := tp.Tracer("e2e").Start(context.Background(), "caller")
		defer span.End()
		contexts[i], traces[span.SpanContext().TraceID().String()] = ctx, true
	}
	w := &workload{rdb: rdb, caller: func(id int) (context.Context, func()) { return contexts[id], func() {} }}
	w.run(t)
	rest(t, h)

	at := lastScrape(t, base, time.Now())
	n := numbers{}
	for _, m := range meter.Catalogue {
		switch m.Kind {
		case meter.Counter:
			for value, v := range query(t, base, m.Prometheus, m.Label, at) {
				n.add(m.Prometheus, value, v)
			}
		case meter.Histogram:
			n[m.Prometheus] = query(t, base, "sum("+m.Prometheus+"_count)", "", at)[""]
			n[m.Prometheus+" sum"] = query(t, base, "sum("+m.Prometheus+"_sum)", "", at)[""]
		}
	}
	check(t, "Prometheus", n, w.books, h)

	t.Run("server", func(t *testing.T) { againstTheServer(t, base, at, srv, w.books) })
	t.Run("every query of the catalogue", func(t *testing.T) {
		for _, m := range meter.Catalogue {
			if m == meter.DBOperationDuration { // package prom does not have it
				continue
			}
			var data struct{ Result []any }
			ask(t, base, "/api/v1/query", instant(m.PromQL, at), &data)
			// One asks for something that is not so here: a queue that is nearly full.
			if len(data.Result) == 0 && m != meter.QueueLimit {
				t.Errorf("nothing answers %s", m.PromQL)
			}
		}
	})
	t.Run("exemplars", func(t *testing.T) {
		var data []struct {
			Exemplars []struct{ Labels map[string]string }
		}
		ask(t, base, "/api/v1/query_exemplars", url.Values{
			"query": {meter.QueueWait.Prometheus + "_bucket"},
			"start": {fmt.Sprint(time.Now().Add(-time.Hour).Unix())}, "end": {fmt.Sprint(time.Now().Add(time.Minute).Unix())},
		}, &data)
		found := 0
		for _, s := range data {
			for _, e := range s.Exemplars {
				found++
				if !traces[e.Labels["trace_id"]] {
					t.Errorf("an exemplar of no caller: %v", e.Labels)
				}
			}
		}
		if found == 0 {
			t.Error("no exemplar came through")
		}
	})
}

// againstTheServer compares with INFO commandstats: what was answered, by command, is what the server has run.
func againstTheServer(t *testing.T, base string, at float64, srv *redistest.Server, b *books) {
	answered := query(t, base, `sum by (command) (autopipe_commands_total{outcome=~"ok|nil|server_error"})`, "command", at)
	for name, want := range b.answered {
		got, stat := answered[name], name
		switch name {
		case "incr":
			got += float64(b.pipelined) // counted as pipelined commands, without a name
		case "client": // go-redis's own set-up sends others
			stat = "client|id"
		}
		ran, err := srv.CommandCalls(stat)
		if err != nil {
			t.Fatal(err)
		}
		if got != float64(want) || ran != int64(want) {
			t.Errorf("%s: Prometheus says %g, the server %d, the callers %d", name, got, ran, want)
		}
	}
	if len(b.answered) < 5 {
		t.Errorf("hardly any commands: %v", b.answered)
	}
}
