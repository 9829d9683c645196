package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// promtool runs it in a folder that holds all rule files, as changed by edit.
func promtool(t *testing.T, edit func(name, content string) string, args ...string) (string, error) {
	t.Helper()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is missing; install it with: apt-get install prometheus")
	}
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range files {
		text := string(content)
		if edit != nil {
			text = edit(name, text)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestRulesAreValid(t *testing.T) {
	if out, err := promtool(t, nil, "check", "rules", "--lint=all", "--lint-fatal", RecordingFile, AlertsFile); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAlerts(t *testing.T) {
	if out, err := promtool(t, nil, "test", "rules", TestsFile); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The alerts' tests must notice an alert that never fires, and one that always does.
func TestAlertsAreTested(t *testing.T) {
	for _, r := range Alerts().Groups[0].Rules {
		if r.Alert == "AutopipeErrorBudgetBurn" && r.Labels["severity"] == warning {
			continue // the same name twice: the critical one stands for it
		}
		for how, expr := range map[string]string{"never": "vector(0) > 1", "always": "vector(1)"} {
			_, err := promtool(t, func(name, content string) string {
				switch name {
				case AlertsFile:
					return replaceExpr(t, content, r.Alert, expr)
				case TestsFile: // its own only: all of them take seconds each time
					own, err := encode(tests(r.Alert))
					if err != nil {
						t.Fatal(err)
					}
					return string(own)
				}
				return content
			}, "test", "rules", TestsFile)
			if err == nil {
				t.Errorf("%s %s fires and its tests pass", r.Alert, how)
			}
		}
	}
}

// replaceExpr gives the first alert of a name another expression.
func replaceExpr(t *testing.T, content, alert, expr string) string {
	t.Helper()
	lines := strings.Split(content, "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(l, "- alert: "+alert) })
	if at < 0 {
		t.Fatalf("no alert %s", alert)
	}
	from := at + 1
	to := from + 1
	indent := len(lines[from]) - len(strings.TrimLeft(lines[from], " "))
	for strings.HasPrefix(lines[to], strings.Repeat(" ", indent+1)) {
		to++
	}
	return strings.Join(slices.Replace(lines, from, to, strings.Repeat(" ", indent)+"expr: "+expr), "\n")
}

// Every alert has a scene in which it fires and one in which it does not.
func TestEveryAlertHasScenes(t *testing.T) {
	for _, r := range Alerts().Groups[0].Rules {
		var fires, never bool
		for _, s := range scenes() {
			if s.alert == r.Alert && (s.severity == "" || s.severity == r.Labels["severity"]) {
				fires = fires || s.firing != ""
				never = never || s.firing == ""
			}
		}
		if !fires || !never {
			t.Errorf("%s %s: a scene in which it fires %v, one in which it does not %v", r.Alert, r.Labels["severity"], fires, never)
		}
	}
}
