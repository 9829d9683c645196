package e2e

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/goautopipe/redis-autopipe/bench/demo"
)

const root = ".."

// project loads docker-compose.yml as "docker compose config" does, with its strict schema.
func project(t *testing.T) *types.Project {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{filepath.Join(root, "docker-compose.yml")}, cli.WithWorkingDirectory(root))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var services = []string{"demo", "grafana", "prometheus", "pyroscope", "redis", "redis-exporter", "tempo"}

func TestComposeServices(t *testing.T) {
	p := project(t)
	if got := slices.Sorted(maps.Keys(p.Services)); !slices.Equal(got, services) {
		t.Errorf("services %v, want %v", got, services)
	}
	if len(p.Networks) != 1 || len(p.Secrets) != 0 {
		t.Errorf("networks %v, secrets %v", p.Networks, p.Secrets)
	}
	pinned := regexp.MustCompile(`:v?\d+\.\d+\.\d+(-[a-z]+)?$`)
	for name, s := range p.Services {
		switch {
		case s.Build != nil:
			if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !pinned.MatchString(s.Image):
			t.Errorf("%s: the version of %s is not pinned", name, s.Image)
		}
		if s.HealthCheck == nil || s.HealthCheck.Disable || len(s.HealthCheck.Test) < 2 || s.HealthCheck.Test[0] != "CMD" {
			t.Errorf("%s: no health check that needs no shell: %v", name, s.HealthCheck)
		}
		if len(s.Networks) != 1 {
			t.Errorf("%s: networks %v", name, s.Networks)
		}
		for other, d := range s.DependsOn {
			if d.Condition != types.ServiceConditionHealthy {
				t.Errorf("%s does not wait for %s to be healthy: %s", name, other, d.Condition)
			}
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to others", name, port.Published)
			}
		}
		for key, value := range s.Environment {
			if regexp.MustCompile(`(?i)passw|secret|token`).MatchString(key) && value != nil && *value != "" {
				t.Errorf("%s: %s is a secret", name, key)
			}
		}
	}
}

// Every bind mount exists, is read-only, and no dashboard is forgotten.
func TestComposeMounts(t *testing.T) {
	p := project(t)
	mounted := map[string]string{} // by target
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeVolume {
				if _, ok := p.Volumes[v.Source]; !ok {
					t.Errorf("%s: no volume %s", name, v.Source)
				}
				continue
			}
			if _, err := os.Stat(v.Source); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !v.ReadOnly {
				t.Errorf("%s: %s can be written", name, v.Target)
			}
			mounted[v.Target] = v.Source
		}
	}
	dashboards, err := filepath.Glob(filepath.Join(root, "dashboards", "*.json"))
	if err != nil || len(dashboards) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	const folder = "/var/lib/grafana/dashboards/"
	for _, d := range dashboards {
		if mounted[folder+filepath.Base(d)] == "" {
			t.Errorf("%s is not mounted", d)
		}
	}
	g := p.Services["grafana"]
	if home := g.Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]; home == nil || mounted[*home] == "" {
		t.Error("the home dashboard is not mounted")
	}
	provider, err := os.ReadFile(filepath.Join(root, "dashboards", "provisioning", "dashboards", "autopipe.yml"))
	if err != nil || !strings.Contains(string(provider), "path: "+strings.TrimSuffix(folder, "/")) {
		t.Errorf("Grafana looks for dashboards elsewhere: %v\n%s", err, provider)
	}
}

// The names by which the parts look for each other are those of the services.
func TestComposeNames(t *testing.T) {
	p := project(t)
	files := []string{"deploy/prometheus.yml", "dashboards/provisioning/datasources/autopipe.yml"}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:http://|\[)([a-z][a-z-]*):\d+`).FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
			if _, ok := p.Services[m[1]]; !ok {
				t.Errorf("%s: no service %s", file, m[1])
			}
		}
	}
	for _, want := range []string{"demo", "redis-exporter", "prometheus", "tempo", "pyroscope"} {
		if !found[want] {
			t.Errorf("nobody looks for %s", want)
		}
	}
}

func TestComposeDemoFlags(t *testing.T) {
	c, err := demo.ParseFlags(project(t).Services["demo"].Command, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Redis, []string{"redis:6379"}) || c.OTLPTraces == "" || c.Pyroscope == "" || c.OTLPMetrics != "" {
		t.Errorf("%+v", c)
	}
}

func TestPrometheusConfig(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is missing; install it with: apt-get install -y prometheus")
	}
	if out, err := exec.Command(tool, "check", "config", filepath.Join(root, "deploy", "prometheus.yml")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	rules, err := filepath.Glob(filepath.Join(root, "dashboards", "rules", "autopipe-*.yml")) // as rule_files has them
	if err != nil || len(rules) == 0 {
		t.Fatalf("no rules: %v", err)
	}
	if out, err := exec.Command(tool, append([]string{"check", "rules"}, rules...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What the Dockerfile copies is all that the demo is built of, and .dockerignore keeps nothing of it back. It is not built
// here: with the Dockerfile's settings that would compile every dependency once more.
func TestDockerfileHasAllSources(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	ignore, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	last := strings.LastIndex(string(text), "\nFROM ")
	build, run := string(text)[:last], string(text)[last:]
	if !strings.Contains(run, "\nUSER 65532:65532\n") {
		t.Error("the image runs as root")
	}
	dir := t.TempDir()
	for _, m := range regexp.MustCompile(`(?m)^COPY (.+) (\S+)$`).FindAllStringSubmatch(build, -1) {
		for src := range strings.FieldsSeq(m[1]) {
			top, _, _ := strings.Cut(src, "/")
			if !slices.Contains(strings.Split(string(ignore), "\n"), "!"+top) {
				t.Errorf(".dockerignore keeps %s back", src)
			}
			dst := filepath.Join(dir, src)
			if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("cp", "-r", filepath.Join(root, src), filepath.Dir(dst)).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	cmd := exec.Command("go", "list", "-deps", "./cmd/demoload") // fails if a package, an embedded file or a checksum is missing
	cmd.Dir = filepath.Join(dir, "bench")
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly -buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	var version struct{ Go string }
	out, err := exec.Command("go", "mod", "edit", "-json", filepath.Join(root, "bench", "go.mod")).Output()
	if err != nil || json.Unmarshal(out, &version) != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text[strings.Index(string(text), "FROM golang:"):]), "FROM golang:"+strings.TrimSuffix(version.Go, ".0")+".") {
		t.Errorf("the image's Go is not the %s of go.mod", version.Go)
	}
}
