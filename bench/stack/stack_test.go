package stack

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// refused is Start where it must fail: with an error that says all of want, and nothing left behind.
func refused(t *testing.T, cfg Config, want ...string) {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	if cfg.Every == 0 {
		cfg.Every = time.Second
	}
	s, err := Start(t.Context(), cfg)
	if err == nil {
		_ = s.Close()
		t.Fatal("it started")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error does not say %q: %v", w, err)
		}
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestMissingPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	refused(t, Config{}, "redis-server, prometheus-redis-exporter, prometheus;", "apt-get install -y redis-server prometheus-redis-exporter prometheus")
}

func TestDemoThatEnds(t *testing.T) {
	refused(t, Config{Demo: []string{"sh", "-c", "echo it is broken; exit 3"}}, "demoload", "exit status 3", "it is broken")
}

func TestRuleFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.yml", "a_test.yml", "b.yml", "README.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ruleFiles(dir)
	if want := []string{filepath.Join(dir, "a.yml"), filepath.Join(dir, "b.yml")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestTakenPort(t *testing.T) {
	taken, err := redistest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", taken))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got, err := address(taken)
	if err != nil || got == l.Addr().String() {
		t.Errorf("%s, %v", got, err)
	}
	l.Close()
	if got, err := address(taken); err != nil || got != l.Addr().String() {
		t.Errorf("free now, but %s, %v", got, err)
	}
}
