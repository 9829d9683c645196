package plan

import (
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

func TestExpandDropsDuplicatesAndOrdersByDelay(t *testing.T) {
	ms := time.Millisecond
	got := Expand(
		Block{[]int{1, 2}, sets, small, []time.Duration{ms, 0}, closed},
		Block{[]int{2, 4}, sets, small, direct, closed},
	)
	want := []Scenario{
		{1, load.Set, 16, 0, 0}, {2, load.Set, 16, 0, 0}, {4, load.Set, 16, 0, 0},
		{1, load.Set, 16, ms, 0}, {2, load.Set, 16, ms, 0},
	}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: got %v, want %v", i, got[i], want[i])
		}
	}
}

func TestQuickFitsItsBudget(t *testing.T) {
	for _, variants := range []int{3, 8, 12, 16} {
		p := Quick()
		p.Fit(variants)
		if e := p.Estimate(variants); e > p.Budget {
			t.Errorf("%d variants take %v, the budget is %v", variants, e, p.Budget)
		}
		if p.Duration > time.Second || p.Duration < shortest {
			t.Errorf("%d variants: rounds of %v", variants, p.Duration)
		}
	}
}

func TestPresetsCoverTheIssue(t *testing.T) {
	have := map[Scenario]bool{}
	for _, s := range Full().Scenarios {
		have[s] = true
	}
	for _, c := range callers {
		for _, m := range allMixes {
			if s := (Scenario{c, m, 16, 0, 0}); !have[s] {
				t.Errorf("full lacks %v", s)
			}
		}
		for _, d := range []time.Duration{200 * time.Microsecond, time.Millisecond, 10 * time.Millisecond} {
			if s := (Scenario{c, load.Set, 16, d, 0}); !have[s] {
				t.Errorf("full lacks %v", s)
			}
		}
	}
	for _, p := range []Plan{Quick(), Standard(), Full()} {
		seen := map[string]bool{}
		for _, s := range p.Scenarios {
			if seen[s.String()] {
				t.Errorf("%s: two scenarios are %s", p.Name, s)
			}
			seen[s.String()] = true
		}
	}
}

func TestWords(t *testing.T) {
	s := Scenario{1, load.Mixed, 1024, time.Millisecond, 500}
	if got, want := s.Words(), "1 caller, 90 % GET 10 % SET 1 KiB, 1ms link, open loop at 500/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := s.String(), "callers=1/mix=mixed/size=1024/delay=1ms/open=500"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := s.Group().Slug(), "mixed-1024-1ms-open500"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
