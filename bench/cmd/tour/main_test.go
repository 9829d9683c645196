package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// Whatever the tour starts must be ended: goleak sees miniredis, clients and the watcher of a child process.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play runs the tour as a user would and returns what it said. The environment names no Redis.
func play(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Setenv("REDIS_ADDR", "")
	var out, errs bytes.Buffer
	status = run(ctx, args, &out, &errs)
	return status, out.String(), errs.String()
}

func needServer(t *testing.T) *redistest.Server {
	t.Helper()
	s, err := redistest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

var endings = regexp.MustCompile(`\n(\d+\.\dx plain|No faster here|SLOWER here): .* per batch, .+\n$`)

// checkTour looks for what every complete tour says, whatever the numbers.
func checkTour(t *testing.T, out string) {
	t.Helper()
	for _, want := range []string{
		"500 of 500 goroutines read back their own write",
		"1,000 GETs while BLPOP waited",
		`BLPOP returned "job-1"`,
		"498 of 498 hits returned their own value",
		"INCR: WRONGTYPE",
		"miss: redis: nil",
		"1 blocking ", "1 connection ", "1 large ",
		"1. plain client", "2. hooked client", "per goroutine", "1.0x",
		"round 5 of 5: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the tour does not say %q", want)
		}
	}
	if !endings.MatchString(out) {
		t.Error("the last line does not say what happened")
	}
	for line := range strings.Lines(out) {
		if len(line) > 81 && !strings.Contains(line, " per batch, ") && !strings.Contains(line, " round ") {
			t.Errorf("wider than 80 columns: %q", line)
		}
	}
	if strings.Contains(out, "\x1b") || strings.Contains(out, "\r") {
		t.Error("control characters though the output is no terminal")
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestTourStartsItsOwnRedis(t *testing.T) {
	status, out, errs := play(t, t.Context(), "-duration", "500ms", "-install=false")
	if status != exitOK || errs != "" {
		t.Fatalf("status %d: %s", status, errs)
	}
	checkTour(t, out)
	if !strings.Contains(out, "redis-server ") || !strings.Contains(out, "started for this tour") {
		t.Error("does not name its server")
	}
}

func TestTourOnMiniredis(t *testing.T) {
	t.Setenv("REDIS_SERVER", "/nonexistent/redis-server")
	status, out, errs := play(t, t.Context(), "-duration", "500ms")
	if status != exitOK || errs != "" {
		t.Fatalf("status %d: %s", status, errs)
	}
	checkTour(t, out)
	for _, want := range []string{
		"REDIS_SERVER names no program", "An embedded miniredis stands in", "miniredis does not count its reads",
		"These rates measure miniredis",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("does not say %q:\n%s", want, out)
		}
	}
}

// others is what a user has in a Redis already.
func others(t *testing.T, s *redistest.Server) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	for _, key := range []string{"mine", "autopipe:tour:mine"} {
		if err := rdb.Set(t.Context(), key, "1", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	return rdb
}

func checkOthers(t *testing.T, rdb *redis.Client) {
	t.Helper()
	keys, err := rdb.Keys(context.Background(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) != 2 {
		t.Errorf("want the two keys of the user, found %d: %.10q", len(keys), keys)
	}
}

func TestTourLeavesAGivenRedisAsItWas(t *testing.T) {
	s := needServer(t)
	rdb := others(t, s)
	status, out, errs := play(t, t.Context(), "-duration", "250ms", "-goroutines", "100", "-addr", s.Addr())
	if status != exitOK || errs != "" {
		t.Fatalf("status %d: %s", status, errs)
	}
	checkTour(t, out)
	if !strings.Contains(out, "at "+s.Addr()+", from -addr") {
		t.Error("does not name the server")
	}
	checkOthers(t, rdb)
}

// stopAt cancels when a text has been written, as a user who presses Ctrl-C on seeing it.
type stopAt struct {
	said bytes.Buffer
	text string
	once sync.Once
	stop func()
}

func (w *stopAt) Write(p []byte) (int, error) {
	n, err := w.said.Write(p)
	if strings.Contains(w.said.String(), w.text) {
		w.once.Do(w.stop)
	}
	return n, err
}

func TestTourStopped(t *testing.T) {
	s := needServer(t)
	rdb := others(t, s)
	t.Setenv("REDIS_ADDR", s.Addr())
	for _, text := range []string{"read back their own write", "BLPop", "round 1 of 5"} {
		ctx, cancel := context.WithCancel(t.Context())
		out, errs := &stopAt{text: text, stop: cancel}, &bytes.Buffer{}
		status := run(ctx, []string{"-duration", "500ms"}, out, errs)
		cancel()
		if status != exitInterrupted || !strings.Contains(errs.String(), "stopped") {
			t.Errorf("at %q: status %d, %s", text, status, errs)
		}
		checkOthers(t, rdb)
	}
}

// TestTourWithoutReader: a pipe whose reader has gone ends the tour, and everything it started.
func TestTourWithoutReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	defer w.Close()
	t.Setenv("REDIS_ADDR", "")
	if status := run(t.Context(), []string{"-install=false"}, w, &bytes.Buffer{}); status != exitInterrupted {
		t.Errorf("status %d", status)
	}
}
