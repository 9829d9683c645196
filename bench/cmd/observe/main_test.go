package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/demo"
)

// The test binary is three programs more: the demo load, which the stack starts; observe itself, to be killed; and a
// command that observe runs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		switch os.Args[1] {
		case demoArg:
			os.Exit(demo.Main(ctx, os.Args[2:], os.Stdout, os.Stderr))
		case "observe":
			os.Exit(run(ctx, os.Args[2:], os.Stdout, os.Stderr))
		case "probe":
			probe(os.Args[2])
		}
	}
	os.Exit(m.Run())
}

const probeStatus = 7

// seen is what the probe saw.
type seen struct {
	Addrs    []string
	Commands string // what Prometheus answered for the commands seen
}

// probe uses the stack as a command would, and tells the test by a file.
func probe(file string) {
	var s seen
	prometheus := os.Getenv("PROMETHEUS_URL")
	s.Addrs = append(s.Addrs, os.Getenv("REDIS_ADDR"))
	for _, u := range []string{prometheus, os.Getenv("DEMO_METRICS_URL")} {
		if p, err := url.Parse(u); err == nil {
			s.Addrs = append(s.Addrs, p.Host)
		}
	}
	resp, err := http.Get(prometheus + "/api/v1/query?query=" + url.QueryEscape(`sum(autopipe_commands_total{job="autopipe",outcome="ok"})`))
	if err == nil {
		var a struct {
			Data struct{ Result []struct{ Value [2]any } }
		}
		if json.NewDecoder(resp.Body).Decode(&a) == nil && len(a.Data.Result) == 1 {
			s.Commands = fmt.Sprint(a.Data.Result[0].Value[1])
		}
	}
	data, _ := json.Marshal(s)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		panic(err)
	}
	os.Exit(probeStatus)
}

// small is a stack with any ports and a small load: tests run beside others.
var small = []string{"-redis-port", "0", "-demo-port", "0", "-exporter-port", "0", "-prometheus-port", "0",
	"-demo", "-cycle 10s -rate 500 -callers 16 -slot 5ms"}

func gone(t *testing.T, addrs []string) {
	t.Helper()
	if len(addrs) < 3 {
		t.Fatalf("only the addresses %v", addrs)
	}
	for _, a := range addrs {
		var c net.Conn
		err := error(nil)
		for end := time.Now().Add(time.Minute); err == nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if c, err = net.Dial("tcp", a); err == nil {
				c.Close()
			}
		}
		if err == nil {
			t.Errorf("somebody still listens at %s", a)
		}
	}
}

func TestCommand(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/seen"
	t.Setenv("TMPDIR", t.TempDir())
	status := run(t.Context(), append(small, "-warm", "3s", "--", self, "probe", file), t.Output(), t.Output())
	if status != probeStatus {
		t.Errorf("status %d, want the command's %d", status, probeStatus)
	}
	var s seen
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &s) != nil {
		t.Fatalf("the command did not run: %v", err)
	}
	if s.Commands == "" || s.Commands == "0" {
		t.Errorf("Prometheus knew %q commands", s.Commands)
	}
	gone(t, s.Addrs)
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// spawn runs observe as a process and returns when it has said where to look.
func spawn(t *testing.T, args ...string) (cmd *exec.Cmd, addrs []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self, append(append([]string{"observe"}, small...), args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for lines := bufio.NewScanner(out); len(addrs) < 4 && lines.Scan(); {
		addrs = append(addrs, regexp.MustCompile(`127\.0\.0\.1:\d+`).FindAllString(lines.Text(), -1)...)
	}
	for _, a := range addrs {
		c, err := net.Dial("tcp", a)
		if err != nil {
			t.Fatalf("nobody listens at %s: %v", a, err)
		}
		c.Close()
	}
	return cmd, addrs
}

func TestInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"without a command": {nil, exitOK},
		"before a command":  {[]string{"-warm", "1h", "--", "true"}, exitInterrupted},
		"in a command":      {[]string{"--", "sleep", "1000"}, exitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, addrs := spawn(t, c.args...)
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.want {
				t.Errorf("status %d, want %d", got, c.want)
			}
			gone(t, addrs)
		})
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-warm", "1s"}, {"-every", "1ms"}, {"-warm", "-1s", "true"}, {"-nonsense"}} {
		if got := run(t.Context(), args, t.Output(), t.Output()); got != exitUsage {
			t.Errorf("%v: status %d", args, got)
		}
	}
	if got := run(t.Context(), []string{"-h"}, t.Output(), t.Output()); got != exitOK {
		t.Errorf("-h: status %d", got)
	}
	var out strings.Builder
	if got := run(t.Context(), append(small, "--", "/no/such/program"), &out, &out); got != exitFailed || !strings.Contains(out.String(), "/no/such/program") {
		t.Errorf("status %d: %s", got, &out)
	}
}
