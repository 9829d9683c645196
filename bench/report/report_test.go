package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/measure"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/stat"
)

// sample results: 256 callers with all kinds of rows, and a second number of callers
// for a plot.
func sample() *Results {
	r := &Results{
		Plan: "sample", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Took: 90 * time.Second,
		Machine:  Machine{CPU: "A CPU", Cores: 2, OS: "linux/amd64", Go: "go1.26", Redis: "7.0", Commit: "abc", Modules: map[string]string{}},
		Settings: Settings{Rounds: 3, Duration: time.Second},
		Variants: []Variant{
			{Name: "plain", Title: "plain client"},
			{Name: "goredis-async", Title: "async", Windowed: true},
			{Name: "rueidis", Title: "rueidis"},
			{Name: "autopipe", Title: "autopipe", Ours: true},
			{Name: "autopipe-window", Title: "autopipe window", Ours: true, Windowed: true, Missing: "Not built yet."},
		},
	}
	add := func(sc plan.Scenario, name string, rate, cpu, p99 float64) {
		m := &Measured{Scenario: sc, Variant: name}
		for i := range 3 {
			wobble := 1 + 0.01*float64(i)
			m.Rounds = append(m.Rounds, measure.Round{
				Executed: uint64(rate), Elapsed: time.Second, Callers: sc.Callers, Window: 200,
				Rate: rate * wobble, CPU: cpu, P50: p99 / 2, P99: p99, PerTrip: 2, Allocs: 5, Others: 0.01 * float64(i),
			})
		}
		r.Measured = append(r.Measured, m)
	}
	for _, callers := range []int{1, 256} {
		sc := plan.Scenario{Callers: callers, Mix: load.Set, Size: 16}
		add(sc, "plain", 50_000, 9000, 3e6)
		add(sc, "goredis-async", 900_000, 800, 60e6)
		add(sc, "rueidis", 300_000, 1500, 1e6) // cheaper in CPU than ours
		add(sc, "autopipe", 600_000, 1800, 4e5)
	}
	open := plan.Scenario{Callers: 256, Mix: load.Set, Size: 16, Rate: 20_000}
	add(open, "plain", 19_000, 9000, 3e6)
	add(open, "rueidis", 20_000, 4000, 1e6)
	add(open, "autopipe", 20_000, 3000, 2e6) // slower than rueidis
	r.Measured[0].Rounds[1].Failed, r.Measured[0].Rounds[1].Error = 2, "i/o | timeout"
	return r
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	r := sample()
	if err := r.Table(&b, r.Scenarios()[1], "plain"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"256 callers, SET 16 B", "12.0x [12.0 12.0]", "goredis-async *"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := r.Table(&b, r.Scenarios()[0], "plain"); err != nil || !strings.Contains(b.String(), "! plain: 2 failed") {
		t.Errorf("failures are not shown: %v\n%s", err, b.String())
	}
}

func TestLossesAreFoundAndMarked(t *testing.T) {
	r := sample()
	var got []string
	for _, l := range r.Losses() {
		got = append(got, l.Scenario.String()+" "+l.Rival.Name+" "+l.Metric)
	}
	want := []string{
		"callers=1/mix=set/size=16/delay=0s rueidis client CPU per command",
		"callers=256/mix=set/size=16/delay=0s rueidis client CPU per command",
		"callers=256/mix=set/size=16/delay=0s/open=20000 rueidis p99",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("losses:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// The windowed face is missing: nothing is claimed about its rival.
	if v := r.verdict(contests[0], r.Scenarios()[1], r.Variant("goredis-async")); v != stat.Absent {
		t.Errorf("verdict on a rival without an opponent: %s", v)
	}

	var page bytes.Buffer
	if err := r.Page(&page, nil); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{
		"1.50µs **▼**", "Not built yet.", "## Where we lose", "against rueidis: client CPU per command 1.80µs, theirs 1.50µs",
		"| 256 callers, SET: throughput over a plain client | 8.00x | 12.0x | 12.0x [12.0 12.0] | met |",
		"| 256 callers, SET: throughput over rueidis | 2.00x | 2.50x | 2.00x [2.00 2.00] | met |",
		"not in this run", "**2 failed: i/o / timeout**",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(text, "**▼**"); n != 3+1 { // the legend explains the mark
		t.Errorf("%d marks, want 4", n)
	}
	for i, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, "|") && !strings.HasSuffix(l, "|") {
			t.Errorf("line %d is a broken row: %s", i+1, l)
		}
	}
}

func TestDisturbanceIsSaid(t *testing.T) {
	r := sample()
	if q := r.Quiet(); q != "Other programs used 1 % of the processors in the median round, 2 % at most." {
		t.Error(q)
	}
	for _, m := range r.Measured {
		m.Rounds[1].Others, m.Rounds[2].Others = 0.4, -1
	}
	if q := r.Quiet(); !strings.Contains(q, "too much to publish") {
		t.Error(q)
	}
}

func TestMissedBarIsMarked(t *testing.T) {
	r := sample()
	for _, m := range r.Measured {
		if m.Variant == "plain" {
			for i := range m.Rounds {
				m.Rounds[i].Rate *= 2
			}
		}
	}
	if b := r.Bars()[0]; b.Met || b.Measured != "6.00x [6.00 6.00]" {
		t.Errorf("%+v", b)
	}
}

func TestJSONComesBack(t *testing.T) {
	r := sample()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	again, err := ReadJSON(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	x, _ := json.Marshal(r)
	y, _ := json.Marshal(again)
	if !bytes.Equal(x, y) {
		t.Error("results differ after a round through JSON")
	}
}

func TestBenchstatLines(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Benchstat(&b); err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^BenchmarkCompare/\S+/variant=\S+ \d+ [\d.]+ ns/op( [\d.]+ \S+)+$`).FindAllString(b.String(), -1)
	if len(lines) != 33 {
		t.Errorf("%d lines in the benchmark format, want 33:\n%s", len(lines), b.String())
	}
}

func TestPlots(t *testing.T) {
	dir := t.TempDir()
	plots, err := sample().Plots(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(plots) != 1 { // the open loop has only one number of callers
		t.Fatalf("%d plots", len(plots))
	}
	for _, name := range []string{plots[0].Throughput, plots[0].Latency} {
		svg, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Contains(svg, []byte("polyline")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(950), "950"}, {count(12_345), "12.3k"}, {count(412_000), "412k"}, {count(1_254_000), "1.25M"},
		{duration(950), "950ns"}, {duration(45_100), "45.1µs"}, {duration(1_234_567), "1.23ms"}, {duration(2.05e9), "2.05s"},
		{ratio(stat.Spread{}), "-"}, {ratio(stat.Of([]float64{2})), "2.00x"}, {ratio(stat.Of([]float64{1, 2, 3})), "2.00x [1.00 3.00]"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
