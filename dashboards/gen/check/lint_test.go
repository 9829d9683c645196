package check

import (
	"errors"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/goautopipe/redis-autopipe/dashboards"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/rules"
)

func TestSchema(t *testing.T) {
	boards, err := Dashboards(dashboards.Files)
	if err != nil {
		t.Fatal(err)
	}
	if len(boards) != 5 {
		t.Errorf("%d dashboards, not 5", len(boards))
	}
}

// The strict decoder must notice what Grafana does not know, or TestSchema says nothing.
func TestSchemaNotices(t *testing.T) {
	raw, err := dashboards.Files.ReadFile("autopipe-overview.json")
	if err != nil {
		t.Fatal(err)
	}
	for old, wrong := range map[string]string{
		`"graphTooltip"`: `"graphToolTip"`,
		`"graphMode"`:    `"graphModel"`,
		`"legendFormat"`: `"legend"`,
		`"id": 1,`:       `"id": "one",`,
	} {
		if _, err := decode([]byte(strings.Replace(string(raw), old, wrong, 1))); err == nil {
			t.Errorf("%s in place of %s was not noticed", wrong, old)
		}
	}
}

func TestBoards(t *testing.T) {
	boards, err := Dashboards(dashboards.Files)
	if err != nil {
		t.Fatal(err)
	}
	for file, d := range boards {
		for _, problem := range Board(file, d) {
			t.Errorf("%s: %s", file, problem)
		}
	}
}

func TestExpressions(t *testing.T) {
	queries, err := AllQueries(dashboards.Files)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[Kind]int{}
	for _, q := range queries {
		kinds[q.Kind]++
		for _, problem := range Expression(q) {
			t.Errorf("%s: %s", q.Where, problem)
		}
	}
	for _, k := range []Kind{Target, Variable, Annotation, Recording, Alert} {
		if kinds[k] == 0 {
			t.Errorf("no %s was checked", k)
		}
	}
}

// Every alert must have its section in the runbook, and the dashboard it names.
func TestRunbook(t *testing.T) {
	page, err := os.ReadFile(path.Join("..", "..", "..", "docs", "runbook.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Alerts().Groups[0].Rules {
		if want := rules.Runbook + "#" + strings.ToLower(r.Alert); r.Annotations["runbook_url"] != want {
			t.Errorf("%s: the runbook's address is %q, not %q", r.Alert, r.Annotations["runbook_url"], want)
		}
		if !strings.Contains(string(page), "\n## "+r.Alert+"\n") {
			t.Errorf("docs/runbook.md has no section %s", r.Alert)
		}
		if _, err := dashboards.Files.Open(r.Annotations["dashboard"] + ".json"); errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: there is no dashboard %q", r.Alert, r.Annotations["dashboard"])
		}
	}
}
