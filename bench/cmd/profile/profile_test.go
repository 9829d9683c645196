package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/goautopipe/redis-autopipe/bench/target"
	"github.com/google/pprof/profile"
)

func TestMain(m *testing.M) {
	target.ServeLink()
	os.Exit(m.Run())
}

// The whole way: run, profile, push, render.
func TestRun(t *testing.T) {
	t.Setenv("REDIS_HOST", "")
	t.Setenv("REDIS_ADDR", "")
	var mu sync.Mutex
	var names []string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, r.URL.Query().Get("name"))
	}))
	defer srv.Close()
	t.Setenv("PYROSCOPE_URL", srv.URL)

	dir := t.TempDir()
	var out bytes.Buffer
	err := run(t.Context(), []string{"-scenario", "few8", "-variant", "plain", "-duration", "400ms", "-mutex", "-spans", "-out", dir}, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"8 callers, SET 16 B", "do not publish", "CPU time", "pushed as"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	dir = filepath.Join(dir, "few8-plain")
	for _, name := range []string{"cpu.pprof", "cpu.txt", "cpu.svg", "heap.pprof", "alloc_space.txt", "alloc_space.svg", "alloc_objects.svg", "mutex.pprof", "mutex.txt"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !spanLabels(t, filepath.Join(dir, "cpu.pprof")) {
		t.Error("no sample of the CPU profile carries its span")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(names) == 0 || !strings.Contains(names[0], "scenario=few8") || !strings.Contains(names[0], "variant=plain") || !strings.Contains(names[0], "commit=") {
		t.Errorf("pushed as %q", names)
	}
}

func spanLabels(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Sample {
		if len(s.Label["span_id"]) > 0 && len(s.Label["span_name"]) > 0 {
			return true
		}
	}
	return false
}

func TestList(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-list"}, &out); err != nil || !strings.Contains(out.String(), "set2000") {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, args := range [][]string{{"-scenario", "nobody"}, {"-variant", "nobody"}, {"-nonsense"}} {
		if err := run(t.Context(), args, &out); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
