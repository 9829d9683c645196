package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/measure"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/report"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

// The cluster's part with every variant, each counted by the masters themselves, and what a
// paused node does to the callers of the others.
func TestCluster(t *testing.T) {
	t.Setenv(target.ClusterEnv, "")
	redis, err := target.OpenCluster("")
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	session, err := measure.OpenCluster(t.Context(), redis, 30)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	const pause = 200 * time.Millisecond
	p := plan.Plan{Name: "test", Rounds: 2, Duration: 100 * time.Millisecond, Warmup: 50 * time.Millisecond}
	p.Cluster = plan.OnCluster()
	p.Cluster.Scenarios = []plan.Scenario{{Callers: 30, Mix: "mixed", Size: 16}}
	p.Cluster.Paused.Callers, p.Cluster.Pauses, p.Cluster.PauseFor = 60, 1, pause
	var out strings.Builder
	c := &comparison{plan: p, out: &out, progress: newProgress(os.Stderr), results: &report.Results{Plan: p.Name}}
	if err := c.cluster(t.Context(), strings.Join(redis.Addrs(), ","), 30, nil); err != nil {
		t.Fatal(err)
	}
	r := c.results.Cluster
	if r.Masters != 3 || len(r.Measured) != len(rival.Clusters()) || len(r.Paused) != len(rival.Clusters())-1 {
		t.Fatalf("%d masters, %d variants, %d paused", r.Masters, len(r.Measured), len(r.Paused))
	}
	for _, m := range r.Measured {
		if n, first := m.Failed(); n > 0 || len(m.Rounds) != 2 {
			t.Errorf("%s: %d rounds, %d failed: %s", m.Variant, len(m.Rounds), n, first)
		}
		for _, x := range m.Rounds {
			if x.ServerCalls != x.Executed || x.Executed == 0 || x.CPU <= 0 || x.P99 <= 0 {
				t.Errorf("%s: counted %d, the masters %d; %+v", m.Variant, x.Executed, x.ServerCalls, x)
			}
		}
	}
	for _, v := range r.Paused {
		x := v.Rounds[0]
		if x.Failed > 0 || x.Calm.Rate <= 0 || x.Paused.Rate <= 0 || x.Calm.P99 <= 0 {
			t.Errorf("%s: %+v", v.Variant, x)
		}
		switch v.Variant {
		case "plain", "autopipe": // a node's callers have connections, or a lane, of their own
			if x.Paused.Max > float64(pause) {
				t.Errorf("%s: a caller of a healthy node waited %v", v.Variant, time.Duration(x.Paused.Max))
			}
		case "autopipe-addhook": // batches that hold the silent node's commands wait for it
			if x.Paused.Max < float64(pause)/2 {
				t.Errorf("%s: nobody waited longer than %v: was no node paused?", v.Variant, time.Duration(x.Paused.Max))
			}
		}
	}

	dir := t.TempDir()
	if err := save(c.results, dir, &out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## On a cluster of 3 masters", "**autopipe, Attach**", "### One node does not answer"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if !strings.Contains(out.String(), "of 3 masters paused") || !strings.Contains(out.String(), "autopipe-addhook") {
		t.Errorf("the terminal's tables:\n%s", &out)
	}
	t.Log(out.String())
	again := t.TempDir()
	if err := run(t.Context(), []string{"-render", filepath.Join(dir, "test.json"), "-out", again}); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(filepath.Join(again, "README.md")); err != nil || string(after) != string(page) {
		t.Errorf("the page differs when it is written anew from the JSON, %v", err)
	}
}
