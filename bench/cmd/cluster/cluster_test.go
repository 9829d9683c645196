package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/target"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// output is a writer that may be read meanwhile.
type output struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// freePort finds the first of three ports that are free now.
func freePort(t *testing.T) int {
	t.Helper()
	for range 50 {
		p := 12000 + 10*rand.IntN(200)
		if free([]int{p, p + 1, p + 2}) == nil {
			return p
		}
	}
	t.Fatal("found no free ports")
	return 0
}

// started runs the command until the test's end and returns when the cluster is ready.
func started(t *testing.T, port int) (out *output, end context.CancelFunc, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, done := &output{}, make(chan error, 1)
	go func() { done <- run(ctx, []string{"-port", fmt.Sprint(port)}, out) }()
	for deadline := time.Now().Add(60 * time.Second); !strings.Contains(out.String(), "export "); time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-done:
			t.Fatalf("it ended at once: %v", err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("it is not ready after a minute")
		}
	}
	return out, cancel, done
}

func TestRunsUntilInterrupted(t *testing.T) {
	port := freePort(t)
	out, interrupt, ended := started(t, port)
	_, list, _ := strings.Cut(out.String(), target.ClusterEnv+"=")
	addrs, _, _ := strings.Cut(list, "\n")
	t.Setenv(target.ClusterEnv, addrs)
	c, err := target.OpenCluster("")
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	defer rdb.Close()
	masters := 0
	var mu sync.Mutex
	err = rdb.ForEachMaster(t.Context(), func(ctx context.Context, m *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters++
		return m.Ping(ctx).Err()
	})
	if err != nil || masters != 3 || c.Own() {
		t.Errorf("%d masters, %v", masters, err)
	}
	if err := rdb.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Error(err)
	}

	err = run(t.Context(), []string{"-port", fmt.Sprint(port)}, &output{})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d is taken", port)) || !strings.Contains(err.Error(), "-stop") {
		t.Errorf("on the same ports: %v", err)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := free([]int{port, port + 1, port + 2}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestStop(t *testing.T) {
	port := freePort(t)
	_, _, ended := started(t, port)
	var out output
	if err := run(t.Context(), []string{"-stop", "-port", fmt.Sprint(port)}, &out); err != nil || !strings.Contains(out.String(), "3 nodes ended") {
		t.Errorf("%q, %v", out.String(), err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it goes on without its nodes")
	}
	if err := run(t.Context(), []string{"-stop", "-port", fmt.Sprint(port)}, &out); err == nil || !strings.Contains(err.Error(), "no cluster runs") {
		t.Errorf("when nothing runs: %v", err)
	}
}

// A server of somebody else is not ended.
func TestStopSparesOthers(t *testing.T) {
	bin, err := redistest.Find()
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	cmd := exec.Command(bin, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	rdb := redis.NewClient(&redis.Options{Addr: net.JoinHostPort("127.0.0.1", fmt.Sprint(port)), MaxRetries: 50})
	defer rdb.Close()
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	err = run(t.Context(), []string{"-stop", "-masters", "1", "-port", fmt.Sprint(port)}, &output{})
	if err == nil || !strings.Contains(err.Error(), "was not started by this command") {
		t.Errorf("stop: %v", err)
	}
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Errorf("the server is gone: %v", err)
	}
}

func TestFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-masters 0": "out of range", "-port 60000": "out of range", "-replicas -1": "out of range", "stray": "stray", "-x": "-x",
	} {
		if err := run(t.Context(), strings.Fields(args), &output{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", args, err, want)
		}
	}
}
