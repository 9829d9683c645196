package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// Config of a Stack. Ports are those to use if they are free; another is chosen for one that is not, or is 0.
type Config struct {
	RedisPort, DemoPort, ExporterPort, PrometheusPort int

	Every time.Duration // between two scrapes
	Rules string        // directory with rules for Prometheus; "" for none
	// Demo is the command line of the demo load, to which -redis and -listen are added.
	Demo []string
}

// Stack is a set of running processes.
type Stack struct {
	Redis      string // host:port
	Metrics    string // URL of the demo's /metrics
	Exporter   string // URL of the exporter's /metrics
	Prometheus string // URL

	dir    string
	procs  []*process // in the order of starting
	failed chan error
	closed chan struct{}
}

const readyTimeout = time.Minute

// Start runs the stack and returns when Prometheus scrapes all of it. The caller must Close it.
func Start(ctx context.Context, cfg Config) (_ *Stack, err error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	rules, err := ruleFiles(cfg.Rules)
	if err != nil {
		return nil, err
	}
	s := &Stack{failed: make(chan error, 1), closed: make(chan struct{})}
	if s.dir, err = os.MkdirTemp("", "autopipe-observe-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	var addrs [4]string
	for i, port := range []int{cfg.RedisPort, cfg.DemoPort, cfg.ExporterPort, cfg.PrometheusPort} {
		if addrs[i], err = address(port); err != nil {
			return nil, err
		}
	}
	s.Redis, s.Metrics, s.Exporter, s.Prometheus = addrs[0], "http://"+addrs[1]+"/metrics", "http://"+addrs[2]+"/metrics", "http://"+addrs[3]

	_, port, err := net.SplitHostPort(s.Redis)
	if err != nil {
		return nil, err
	}
	if err = s.run(ctx, "redis-server", "", bin["redis-server"],
		"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", s.dir); err != nil {
		return nil, err
	}
	demo := append(slices.Clone(cfg.Demo[1:]), "-redis", s.Redis, "-listen", addrs[1])
	if err = s.run(ctx, "demoload", "http://"+addrs[1]+"/healthz", cfg.Demo[0], demo...); err != nil {
		return nil, err
	}
	if err = s.run(ctx, "prometheus-redis-exporter", s.Exporter, bin["prometheus-redis-exporter"],
		"-redis.addr", "redis://"+s.Redis, "-web.listen-address", addrs[2]); err != nil {
		return nil, err
	}
	text, err := config(cfg.Every, rules, map[string]string{JobDemo: addrs[1], JobRedis: addrs[2], JobPrometheus: addrs[3]})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.dir, "prometheus.yml")
	if err = os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	if err = s.run(ctx, "prometheus", s.Prometheus+"/-/ready", bin["prometheus"],
		"--config.file="+file, "--web.listen-address="+addrs[3], "--storage.tsdb.path="+filepath.Join(s.dir, "data"),
		"--enable-feature=exemplar-storage", "--log.level=warn"); err != nil {
		return nil, err
	}
	return s, s.ready(ctx)
}

// run starts a program and waits until url answers with success, or, without one, for nothing.
func (s *Stack) run(ctx context.Context, name, url, bin string, args ...string) error {
	p, err := startLogged(name, filepath.Join(s.dir, name+".log"), bin, args...)
	if err != nil {
		return err
	}
	s.procs = append(s.procs, p)
	go func() {
		<-p.done
		select {
		case <-s.closed:
		case s.failed <- p.gone():
		default: // another was first
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for url != "" && !answers(ctx, url) {
		select {
		case err := <-s.failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer at %s: %w; its last lines:\n%s", name, url, ctx.Err(), p.tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Failed gets an error if a process of the stack ends before Close.
func (s *Stack) Failed() <-chan error { return s.failed }

// Env is what a command needs to find the stack: PROMETHEUS_URL, DEMO_METRICS_URL and REDIS_ADDR.
func (s *Stack) Env() []string {
	return []string{"PROMETHEUS_URL=" + s.Prometheus, "DEMO_METRICS_URL=" + s.Metrics, "REDIS_ADDR=" + s.Redis}
}

// killed is the exit status of a command that a signal ended.
const killed = 128

// Run runs a command with Env added to its environment and the output of this process, ends it when ctx ends or
// the stack fails, and returns its exit status. The error says why there is none, or that the stack failed.
func (s *Stack) Run(ctx context.Context, args []string) (status int, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), s.Env()...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // no standard input: in a process group of its own it could not read a terminal
	p, err := start(args[0], cmd)
	if err != nil {
		return 0, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		err = ctx.Err()
	case err = <-s.failed:
	}
	p.stop()
	if status = cmd.ProcessState.ExitCode(); status < 0 {
		status = killed
	}
	return status, err
}

// Close ends all processes, the last first, and removes what they wrote.
func (s *Stack) Close() error {
	close(s.closed)
	for _, p := range slices.Backward(s.procs) {
		p.stop()
	}
	http.DefaultClient.CloseIdleConnections()
	return os.RemoveAll(s.dir)
}
