package report

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// Machine is where the numbers come from. Nothing in it names the host or a path.
type Machine struct {
	CPU        string            `json:"cpu"`
	Cores      int               `json:"cores"`
	GOMAXPROCS int               `json:"gomaxprocs"`
	GOGC       string            `json:"gogc"`
	OS         string            `json:"os"`
	Go         string            `json:"go"`
	Redis      string            `json:"redis"`
	Commit     string            `json:"commit"`
	Modules    map[string]string `json:"modules"`
}

// modules whose versions matter to the numbers.
var modules = []string{
	"github.com/redis/go-redis/v9", "github.com/redis/rueidis",
}

// ThisMachine describes where we run. redis is the server's version.
func ThisMachine(redis string) Machine {
	m := Machine{
		CPU: cpuModel(), Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0), GOGC: os.Getenv("GOGC"),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Redis: redis,
		Commit: Commit(), Modules: map[string]string{},
	}
	if m.GOGC == "" {
		m.GOGC = "100"
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			for _, want := range modules {
				if dep.Path == want {
					m.Modules[dep.Path] = dep.Version
				}
			}
		}
	}
	return m
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// Commit of the tree we run from: short, with "+changes" when files differ from it.
// Git is asked, since "go run" stamps no version into the program.
func Commit() string {
	out, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "none"
	}
	commit := strings.TrimSpace(string(out))
	// The results themselves are always new.
	dirty, err := exec.Command("git", "status", "--porcelain", "--", ":/", ":(top,exclude)bench/results").Output()
	if err == nil && len(strings.TrimSpace(string(dirty))) > 0 {
		commit += "+changes"
	}
	return commit
}

// Lines for people.
func (m Machine) Lines() []string {
	var mods []string
	for _, path := range modules {
		if v := m.Modules[path]; v != "" {
			mods = append(mods, strings.TrimPrefix(path, "github.com/")+" "+v)
		}
	}
	return []string{
		fmt.Sprintf("%s, %d cores (GOMAXPROCS %d, GOGC %s), %s", m.CPU, m.Cores, m.GOMAXPROCS, m.GOGC, m.OS),
		fmt.Sprintf("%s, redis %s, %s", m.Go, m.Redis, strings.Join(mods, ", ")),
		"commit " + m.Commit,
	}
}
