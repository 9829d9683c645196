//go:build live

package check

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"github.com/goautopipe/redis-autopipe/dashboards"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
)

const howToRun = `PROMETHEUS_URL is not set. The test needs a Prometheus that scrapes the demo; from the folder bench:
	go run ./cmd/observe -warm 90s -- go test -C ../dashboards/gen -tags live -count=1 -run TestLive ./check`

func demo(t *testing.T) Live {
	t.Helper()
	url := os.Getenv("PROMETHEUS_URL")
	if url == "" {
		t.Fatal(howToRun)
	}
	client, err := api.NewClient(api.Config{Address: url})
	if err != nil {
		t.Fatal(err)
	}
	return Live{API: v1.NewAPI(client), Window: 15 * time.Second, Span: time.Minute}
}

// TestLive: every panel, variable, annotation, rule and alert finds data in a Prometheus that scrapes the demo.
func TestLive(t *testing.T) {
	report, err := demo(t).Everything(t.Context(), dashboards.Files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Failures {
		t.Error(f)
	}
	t.Logf("checked: %v", report.Checked)
	for _, u := range report.Unasked {
		t.Logf("not asked: %s", u)
	}
}

// TestLiveRenamed: if the demo called a metric otherwise, exactly what uses it would fail.
func TestLiveRenamed(t *testing.T) {
	wrong := map[string]bool{}
	rename := func(q *Query) {
		if renamed := strings.ReplaceAll(q.Expr, names.QueueWait.Name, "renamed"); renamed != q.Expr {
			wrong[q.Where] = true
			q.Expr = renamed
		}
	}
	report, err := demo(t).Everything(t.Context(), dashboards.Files, rename)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Failures {
		found := false
		for where := range wrong {
			if strings.HasPrefix(f, where+": ") {
				delete(wrong, where)
				found = true
			}
		}
		if !found {
			t.Errorf("failed although nothing was renamed in it: %s", f)
		}
	}
	for where := range wrong {
		t.Errorf("%s: a metric was renamed, and the check passed", where)
	}
}
