package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/report"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

func TestMain(m *testing.M) {
	target.ServeLink()
	os.Exit(m.Run())
}

// The whole way with every variant: closed and open loop, with and without a link.
func TestRun(t *testing.T) {
	t.Setenv("REDIS_HOST", "")
	t.Setenv("REDIS_ADDR", "")
	dir := t.TempDir()
	err := run(t.Context(), []string{
		"-callers", "1,16", "-delay", "0,500us", "-open", "0,2000", "-rounds", "2", "-duration", "60ms", "-warmup", "30ms",
		"-mix", "mixed", "-size", "32", "-pool", "20", "-cancellable", "-out", dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "custom.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	res, err := report.ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(res.Scenarios()); n != 8 {
		t.Errorf("%d scenarios, want 8", n)
	}
	for _, sc := range res.Scenarios() {
		for _, v := range rival.All() {
			m := res.Find(sc, v.Name)
			if want := v.Missing == "" && (sc.Rate == 0 || !v.Windowed); (m != nil) != want {
				t.Errorf("%s, %s: measured %v, want %v", sc, v.Name, m != nil, want)
			}
			if m == nil {
				continue
			}
			if n, first := m.Failed(); n > 0 || len(m.Rounds) != 2 {
				t.Errorf("%s, %s: %d rounds, %d failed: %s", sc, v.Name, len(m.Rounds), n, first)
			}
			for _, r := range m.Rounds {
				if r.ServerCalls != r.Executed {
					t.Errorf("%s, %s: counted %d, the server %d", sc, v.Name, r.Executed, r.ServerCalls)
				}
				if sc.Delay > 0 && !v.Windowed && r.P50 < float64(sc.Delay) {
					t.Errorf("%s, %s: p50 %v is below the link's round trip", sc, v.Name, time.Duration(r.P50))
				}
			}
		}
	}
	for _, name := range []string{"README.md", "custom.txt", "throughput-mixed-32.svg", "p99-mixed-32-500us.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	again := t.TempDir()
	if err := run(t.Context(), []string{"-render", filepath.Join(dir, "custom.json"), "-out", again}); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "README.md"))
	after, _ := os.ReadFile(filepath.Join(again, "README.md"))
	if len(before) == 0 || string(before) != string(after) {
		t.Error("the page differs when it is written anew from the JSON")
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-quick"})
	if err != nil || o.plan.Name != "quick" || o.plan.Budget == 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	if o, err = parse([]string{"-full", "-duration", "2s", "-variants", "plain,rueidis"}); err != nil || o.plan.Duration != 2*time.Second || len(o.variants) != 2 {
		t.Fatalf("%+v, %v", o, err)
	}
	if o, err = parse([]string{"-callers", "4", "-delay", "1ms"}); err != nil || len(o.plan.Scenarios) != 1 {
		t.Fatalf("%+v, %v", o, err)
	}
	if want := (plan.Scenario{Callers: 4, Mix: "set", Size: 16, Delay: time.Millisecond}); o.plan.Scenarios[0] != want {
		t.Errorf("got %+v, want %+v", o.plan.Scenarios[0], want)
	}
	if o, err = parse(nil); err != nil || o.plan.Cluster == nil || !o.plan.Published {
		t.Fatalf("the standard plan: %+v, %v", o, err)
	}
	if o, err = parse([]string{"-cluster", "off"}); err != nil || o.plan.Cluster != nil || o.plan.Published {
		t.Fatalf("without the cluster: %+v, %v", o, err)
	}
	if o, err = parse([]string{"-quick", "-cluster", "only"}); err != nil || o.plan.Cluster == nil || len(o.plan.Scenarios) != 0 {
		t.Fatalf("the cluster only: %+v, %v", o, err)
	}
	for args, want := range map[string]string{
		"-quick -full": "not both", "-callers 0": "below 1", "-mix some": "want set, get or mixed", "-delay 1": "-delay",
		"-cluster some":    "on, off or only",
		"-variants nobody": "no variant", "-base nobody": "-base", "-open x": "-open", "stray": "stray",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", args, err, want)
		}
	}
}
