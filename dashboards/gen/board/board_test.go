package board

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// A new reason or outcome needs its advice and its colour.
func TestEveryValueIsCovered(t *testing.T) {
	for i := range telemetry.NumFlushReasons {
		r := telemetry.FlushReason(i)
		if flushAdvice[i] == "" || flushColors[i] == "" || !strings.Contains(flushHelp(), "**"+r.String()+"**") {
			t.Errorf("flush reason %s: advice %q, colour %q", r, flushAdvice[i], flushColors[i])
		}
	}
	for i := range telemetry.NumOutcomes {
		if outcomeColors[i] == "" {
			t.Errorf("outcome %s has no colour", telemetry.Outcome(i))
		}
	}
}

// The generator must make the same bytes each time, or the committed files could not be compared.
func TestDeterministic(t *testing.T) {
	generate := func() string {
		boards, err := All()
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(boards)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	first := generate()
	for range 5 {
		if generate() != first {
			t.Fatal("two runs differ")
		}
	}
}

// A row that is not full must be noticed, since the next panel would land beside it.
func TestPositioned(t *testing.T) {
	d, err := newDashboard("x", "X", "A dashboard with a gap.", variables()...).
		WithPanel(number(about{1, "Half", "A panel that fills half a row.", ratio, 12, 4}, steps("blue"), fill(all))).Build()
	if err != nil {
		t.Fatal(err)
	}
	if err := positioned(d); err == nil {
		t.Error("a row of 12 was not noticed")
	}
}
