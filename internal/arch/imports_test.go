package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/goautopipe/redis-autopipe"

const (
	goRedis    = "github.com/redis/go-redis/v9"
	prometheus = "github.com/prometheus/client_golang"
	promModel  = "github.com/prometheus/client_model"
	otel       = "go.opentelemetry.io/otel"
	otelTrace  = "go.opentelemetry.io/otel/trace"
)

type layer struct {
	dir    string
	ours   []string
	theirs []string
}

// layers lists, from the bottom up, what each package may import besides the standard library: packages of this module
// by their folder, modules of others by their path. A package that is missing here fails the test: say where it
// belongs.
var layers = []layer{
	{dir: "internal/command", theirs: []string{goRedis}},
	{dir: "internal/redistest", theirs: []string{goRedis}},
	{dir: "internal/gen/command", ours: []string{"internal/redistest"}, theirs: []string{goRedis}},
	{dir: "internal/arch"},
	{dir: "telemetry"},
	{dir: "telemetry/histogram"},
	{dir: "hook", ours: []string{"internal/command"}, theirs: []string{goRedis}},
	{dir: "autopipe", ours: []string{"internal/command", "telemetry", "telemetry/histogram", "hook"}, theirs: []string{goRedis}},
	{dir: "telemetry/meter", ours: []string{"internal/command", "telemetry", "telemetry/histogram"}, theirs: []string{goRedis}},
	{dir: "telemetry/prom", ours: []string{"telemetry", "telemetry/histogram", "telemetry/meter"}, theirs: []string{prometheus, promModel, otelTrace, goRedis}},
	{dir: "telemetry/otelpipe", ours: []string{"internal/command", "telemetry", "telemetry/histogram", "telemetry/meter"}, theirs: []string{otel, goRedis}},
	{dir: "telemetry/profile", ours: []string{"telemetry"}},
	{dir: "telemetry/slogpipe", ours: []string{"telemetry", "telemetry/meter"}},
	{dir: "dashboards", ours: []string{"telemetry"}},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Module     *struct{ Path string }
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Module"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// TestImportsPointDown covers what users compile; tests may import more.
func TestImportsPointDown(t *testing.T) {
	seen := 0
	for _, p := range list(t, "./...") {
		dir := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		i := slices.IndexFunc(layers, func(l layer) bool { return l.dir == dir })
		if i < 0 {
			t.Errorf("%s is in no layer", dir)
			continue
		}
		seen++
		for _, imp := range p.Imports {
			switch {
			case strings.HasPrefix(imp, module+"/"):
				if !slices.Contains(layers[i].ours, strings.TrimPrefix(imp, module+"/")) {
					t.Errorf("%s imports %s: not below it", dir, imp)
				}
			case strings.Contains(strings.SplitN(imp, "/", 2)[0], "."): // not the standard library
				if !slices.ContainsFunc(layers[i].theirs, func(m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") }) {
					t.Errorf("%s imports %s: not allowed there", dir, imp)
				}
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d packages were checked", seen)
	}
}

// TestRootModuleStaysLight: what a user of the hook alone compiles is go-redis and the standard library.
func TestRootModuleStaysLight(t *testing.T) {
	for _, p := range list(t, "-deps", "./autopipe") {
		if p.Module == nil { // standard library
			continue
		}
		switch p.Module.Path {
		case module, goRedis, "github.com/cespare/xxhash/v2", "github.com/zeebo/xxh3", "github.com/klauspost/cpuid/v2", "go.uber.org/atomic", "golang.org/x/sys":
		default:
			t.Errorf("autopipe pulls in %s (for %s)", p.Module.Path, p.ImportPath)
		}
	}
}
