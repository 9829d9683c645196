package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	tb := table{head: []string{"approach", right + "ops/s", "ordering"}}
	tb.add("1. plain", "42", "per goroutine")
	tb.add("2. a longer name", "1,234,567")
	want := []string{
		"approach              ops/s  ordering",
		"1. plain                 42  per goroutine",
		"2. a longer name  1,234,567",
	}
	if got := tb.lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := number(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0.00 ms", 84 * time.Microsecond: "0.08 ms", 12345 * time.Microsecond: "12.35 ms", 3 * time.Second: "3000 ms",
	} {
		if got := millis(d); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
	if plural(1, "batch") != "1 batch" || plural(2000, "batch") != "2,000 batches" || plural(uint64(0), "command") != "0 commands" {
		t.Error("plural")
	}
}

func TestWrap(t *testing.T) {
	got := wrap("one two  three averyveryverylongword four", 9)
	if want := []string{"one two", "three", "averyveryverylongword", "four"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestVerdictIsHonest(t *testing.T) {
	plain := row{rates: []float64{100, 100, 100}}
	for rate, want := range map[float64]string{900: "9.0x plain: 900 ", 105: "No faster here: 105 ", 50: "SLOWER here: 50 "} {
		got := verdict([]row{plain, {rates: []float64{rate, rate, rate}}}, "redis-server 7")
		if !strings.HasPrefix(got, want) {
			t.Errorf("%v: %s", rate, got)
		}
	}
}

func TestProgressFitsTheTerminal(t *testing.T) {
	var out strings.Builder
	s := &screen{w: &out, live: true}
	s.progress(strings.Repeat("wide ", 40))
	if n := len(strings.TrimPrefix(out.String(), "\r\x1b[K")); n > width {
		t.Errorf("%d characters", n)
	}
	if bar(0, 10) != "[----------]" || bar(7, 10) != "[#######---]" || bar(10, 10) != "[##########]" {
		t.Error("bar")
	}
}
