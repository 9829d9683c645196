package slogpipe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/slogpipe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func batch(n int, trip time.Duration) *telemetry.Batch {
	b := &telemetry.Batch{Pipe: "p", Reason: telemetry.FlushDrain, Size: n, Bytes: 50 * n, Cut: time.Now(), RoundTrip: trip}
	for i := range n {
		b.Commands = append(b.Commands, telemetry.Command{
			Name: []string{"get", "set", "secret-name"}[i%3], Context: context.Background(), Wait: time.Millisecond, Attempt: 1,
		})
	}
	return b
}

func observe(opts ...slogpipe.Option) (telemetry.Events, *bytes.Buffer) {
	var buf bytes.Buffer
	return slogpipe.New(slog.New(slog.NewJSONHandler(&buf, nil)), opts...).Attach(telemetry.Pipe{Name: "p"}), &buf
}

func TestSlowBatchIsLogged(t *testing.T) {
	ev, buf := observe(slogpipe.WithThreshold(50 * time.Millisecond))
	ev.BatchEnd(context.Background(), batch(3, 49*time.Millisecond))
	if buf.Len() > 0 {
		t.Fatalf("a fast batch was logged: %s", buf)
	}
	b := batch(4, 60*time.Millisecond)
	b.Node = "127.0.0.1:7000"
	b.Err = errors.Join(io.EOF, errors.New("secret-error"))
	b.Commands[1].Outcome, b.Commands[1].Err = telemetry.OutcomeUncertain, errors.New("secret-error")
	b.Commands[2].Attempt = 2
	b.Commands[3].Again = true
	ev.BatchEnd(context.Background(), b)
	var rec map[string]any
	if err := json.Unmarshal(buf.Bytes(), &rec); err != nil {
		t.Fatalf("%v: %s", err, buf)
	}
	want := map[string]any{
		"level": "WARN", "pipe": "p", "node": "127.0.0.1:7000", "reason": "drain", "size": 4.0, "bytes": 200.0,
		"round_trip": 60e6, "queue_wait_max": 1e6, "retried": 1.0, "to_be_retried": 1.0, "error_type": "eof",
	}
	for k, v := range want {
		if rec[k] != v {
			t.Errorf("%s is %v, want %v", k, rec[k], v)
		}
	}
	if o, _ := rec["outcomes"].(map[string]any); o["ok"] != 3.0 || o["uncertain"] != 1.0 {
		t.Errorf("outcomes %v", rec["outcomes"])
	}
	if strings.Contains(buf.String(), "secret") {
		t.Errorf("the record shows what it must not: %s", buf)
	}
}

func TestRecordsAreRateLimited(t *testing.T) {
	ev, buf := observe(slogpipe.WithThreshold(time.Millisecond), slogpipe.WithInterval(time.Hour))
	for range 100 {
		ev.BatchEnd(context.Background(), batch(1, time.Second))
	}
	if n := strings.Count(buf.String(), "\n"); n != 1 {
		t.Errorf("%d records, want 1", n)
	}
	late := batch(1, time.Second)
	late.Cut = late.Cut.Add(2 * time.Hour)
	ev.BatchEnd(context.Background(), late)
	if !strings.Contains(buf.String(), `"suppressed":99`) {
		t.Errorf("the second record does not tell of those between: %s", buf)
	}
}

func TestQueueThresholdAndLevel(t *testing.T) {
	ev, buf := observe(slogpipe.WithQueueThreshold(time.Millisecond), slogpipe.WithInterval(0))
	ev.BatchEnd(context.Background(), batch(2, time.Microsecond))
	if buf.Len() == 0 {
		t.Error("a batch that had queued for long was not logged")
	}
	ev, buf = observe(slogpipe.WithLevel(slog.LevelDebug))
	ev.BatchEnd(context.Background(), batch(2, time.Minute))
	if buf.Len() > 0 {
		t.Error("a record below the handler's level was written")
	}
}

func TestNoAllocations(t *testing.T) {
	ev, _ := observe(slogpipe.WithInterval(time.Hour))
	fast, slow := batch(10, time.Millisecond), batch(10, time.Second)
	ev.BatchEnd(context.Background(), slow) // the one that is logged
	if n := testing.AllocsPerRun(100, func() {
		ev.BatchEnd(context.Background(), fast)
		ev.BatchEnd(context.Background(), slow)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkFastBatch(b *testing.B) {
	ev, _ := observe()
	batch := batch(64, time.Millisecond)
	for b.Loop() {
		ev.BatchEnd(context.Background(), batch)
	}
}
