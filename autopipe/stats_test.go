package autopipe_test

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

func TestStats_Forms(t *testing.T) {
	ctx := context.Background()
	rdb, ap := hooked(t, autopipe.WithName("forms"))

	empty := ap.Stats()
	if empty.MeanBatch() != 0 || len(empty.Flushes) != telemetry.NumFlushReasons ||
		len(empty.Direct) != telemetry.NumDirectReasons || len(empty.Outcomes) != telemetry.NumOutcomes ||
		len(empty.Retries) != telemetry.NumRetryCauses {
		t.Errorf("every reason must be there from the start: %+v", empty)
	}

	rdb.Set(ctx, t.Name(), "v", 0)
	rdb.Get(ctx, t.Name()+"-none")
	rdb.Incr(ctx, t.Name()) // not a number
	rdb.Do(ctx, "client", "id")
	_, _ = rdb.Pipelined(ctx, func(p redis.Pipeliner) error { p.Get(ctx, "a"); p.Get(ctx, "b"); return nil })

	s := ap.Stats()
	want := `pipe "forms": 3 commands in 3 batches (mean 1.0); flushed idle 3; direct connection 1; ` +
		`outcomes ok 2, nil 1, server_error 1; 2 commands in 1 explicit pipelines; now 0 queued, 0 in flight`
	line := regexp.MustCompile(`; queue wait p50 \S+ p99 \S+, round trip p50 \S+ p99 \S+;`)
	strip := func(s autopipe.Stats) string { return line.ReplaceAllString(s.String(), ";") }
	if s.RoundTrip.Samples == 0 || s.RoundTrip.P50 <= 0 || s.RoundTrip.P99 < s.RoundTrip.P50 || !line.MatchString(s.String()) {
		t.Errorf("round trip %+v in %s", s.RoundTrip, s)
	}
	if got := strip(s); got != want {
		t.Errorf("String:\n got %s\nwant %s", got, want)
	}
	var back autopipe.Stats
	if err := json.Unmarshal(s.JSON(), &back); err != nil || strip(back) != want {
		t.Errorf("JSON does not come back: %v\n%s", err, s.JSON())
	}
	for _, name := range []string{`"commands":3`, `"batches":3`, `"queued":0`, `"pipelined_commands":2`} {
		if !strings.Contains(string(s.JSON()), name) {
			t.Errorf("JSON lacks %s: %s", name, s.JSON())
		}
	}
}

func TestOptionsAreClamped(t *testing.T) {
	var got telemetry.Pipe
	attach := observer(func(p telemetry.Pipe) telemetry.Events { got = p; return telemetry.Events{} })
	for _, c := range []struct {
		name string
		opts []autopipe.Option
		want telemetry.Pipe
	}{
		{"defaults", nil, telemetry.Pipe{Name: "default", MaxBatch: 512, MaxBatchBytes: 128 << 10, MaxInFlight: autopipe.DefaultMaxInFlight, MaxQueue: 65536}},
		{"zero", []autopipe.Option{autopipe.WithMaxBatch(0), autopipe.WithMaxBatchBytes(0), autopipe.WithMaxInFlight(0), autopipe.WithMaxQueue(0), autopipe.WithName("")},
			telemetry.Pipe{Name: "default", MaxBatch: 1, MaxBatchBytes: 1 << 10, MaxInFlight: 1, MaxQueue: 1}},
		{"negative", []autopipe.Option{autopipe.WithMaxBatch(-5), autopipe.WithMaxBatchBytes(-1), autopipe.WithMaxInFlight(-1), autopipe.WithMaxQueue(-9), autopipe.WithLinger(-time.Second), autopipe.WithMaxRetries(-1), autopipe.WithRetry(99), autopipe.WithRetryBackoff(-1, -1), nil},
			telemetry.Pipe{Name: "default", MaxBatch: 1, MaxBatchBytes: 1 << 10, MaxInFlight: 1, MaxQueue: 1}},
		{"huge", []autopipe.Option{autopipe.WithMaxBatch(1 << 40), autopipe.WithMaxBatchBytes(1 << 40), autopipe.WithMaxInFlight(1 << 40), autopipe.WithMaxQueue(1 << 40), autopipe.WithName("big"), autopipe.WithLinger(time.Hour)},
			telemetry.Pipe{Name: "big", MaxBatch: 65536, MaxBatchBytes: 64 << 20, MaxInFlight: 1024, MaxQueue: 1 << 24}},
	} {
		t.Run(c.name, func(t *testing.T) {
			autopipe.New(append(c.opts, autopipe.WithObserver(attach, nil))...)
			got.Gauges = nil
			if got.Name != c.want.Name || got.MaxBatch != c.want.MaxBatch || got.MaxBatchBytes != c.want.MaxBatchBytes ||
				got.MaxInFlight != c.want.MaxInFlight || got.MaxQueue != c.want.MaxQueue {
				t.Errorf("in force %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestReasonsAreExplained: every member of the closed sets has a name of its own and a sentence.
func TestReasonsAreExplained(t *testing.T) {
	sets := map[string]func(yield func(name, doc string)){
		"flush": func(y func(string, string)) {
			for i := range telemetry.NumFlushReasons {
				y(telemetry.FlushReason(i).String(), telemetry.FlushReason(i).Doc())
			}
		},
		"direct": func(y func(string, string)) {
			for i := range telemetry.NumDirectReasons {
				y(telemetry.DirectReason(i).String(), telemetry.DirectReason(i).Doc())
			}
		},
		"outcome": func(y func(string, string)) {
			for i := range telemetry.NumOutcomes {
				y(telemetry.Outcome(i).String(), telemetry.Outcome(i).Doc())
			}
		},
		"cause": func(y func(string, string)) {
			for i := range telemetry.NumRetryCauses {
				y(telemetry.RetryCause(i).String(), telemetry.RetryCause(i).Doc())
			}
		},
	}
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		seen := map[string]bool{}
		sets[set](func(name, doc string) {
			if name == "" || name == "other" || seen[name] || !strings.HasSuffix(doc, ".") {
				t.Errorf("%s: %q: %q", set, name, doc)
			}
			seen[name] = true
		})
	}
	if got := telemetry.Outcome(200).String(); got != "other" {
		t.Errorf("out of range: %q", got)
	}
}
