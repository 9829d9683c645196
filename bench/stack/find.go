package stack

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// programs that the stack needs, and the Debian packages that bring them.
var programs = []struct{ name, pkg string }{
	{"redis-server", "redis-server"},
	{"prometheus-redis-exporter", "prometheus-redis-exporter"},
	{"prometheus", "prometheus"},
}

// find returns the paths of all programs by name, or one error that says how to install all that are missing.
func find() (map[string]string, error) {
	paths := map[string]string{}
	var missing, pkgs []string
	for _, p := range programs {
		path, err := exec.LookPath(p.name)
		if err != nil {
			missing, pkgs = append(missing, p.name), append(pkgs, p.pkg)
		}
		paths[p.name] = path
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("missing: %s; install with: apt-get install -y %s", strings.Join(missing, ", "), strings.Join(pkgs, " "))
	}
	return paths, nil
}

// address returns the wanted port of this machine if it is free, and else one that is and that no connection will get
// before the program that is to have it has started.
func address(port int) (string, error) {
	if port != 0 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if l, err := net.Listen("tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	port, err := redistest.FreePort()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}

// RulesDir finds the rules of the dashboards from the working directory upwards; "" if there are none.
func RulesDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		rules := filepath.Join(dir, "dashboards", "rules")
		if info, err := os.Stat(rules); err == nil && info.IsDir() {
			return rules
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// ruleFiles lists the rules in a directory, without their tests.
func ruleFiles(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yml"))
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.yml") })
	for i := range files {
		if files[i], err = filepath.Abs(files[i]); err != nil {
			return nil, err
		}
	}
	return files, nil
}
