package main

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/goautopipe/redis-autopipe/bench/scale"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

func TestMain(m *testing.M) {
	target.ServeLink()
	os.Exit(m.Run())
}

const page = "../../../docs/scale.md"

func committed(t *testing.T) *scale.Measured {
	t.Helper()
	o := &options{}
	m, err := o.readings(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestModelReproducesTheMeasuredPoints: the tolerances are what docs/scale.md states.
func TestModelReproducesTheMeasuredPoints(t *testing.T) {
	m := committed(t)
	near := func(p *scale.Point, model string, got, share, commands float64) {
		if want := p.Attach.Depth; math.Abs(got-want) > max(commands, share*want) {
			t.Errorf("%d nodes, %v commands/s, %v: %s says a depth of %.2f, measured %.2f", p.Nodes, p.Rate, p.Delay, model, got, want)
		}
	}
	if len(m.Points) < 10 {
		t.Fatalf("%d points", len(m.Points))
	}
	held, deep := 0, 0
	for _, p := range m.Points {
		if p.Delay == 0 && p.Rate > 20_000 {
			continue // both cores are full: docs/scale.md says that the model does not hold there
		}
		near(p, "the model", scale.Run(m.Replay(p, false)).Depth(), 0.40, 0.5)
		held++
		if p.Delay > 0 {
			near(p, "the model with jitter", scale.Run(m.ReplayLate(p)).Depth(), 0.20, 0.3)
		}
		if p.Attach.Depth > 2 {
			deep++
		}
	}
	if held < len(m.Points)-1 || deep < 3 {
		t.Errorf("%d of %d points are held, %d of them have batches worth the name", held, len(m.Points), deep)
	}
}

func TestPageHasTheseReadings(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want, err := render(string(text), sections(committed(t)))
	if err != nil {
		t.Fatal(err)
	}
	if want == string(text) {
		return
	}
	old := strings.Split(string(text), "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(old) || old[i] != line {
			t.Fatalf("docs/scale.md, line %d is not what measured.json gives; run in bench/: go run ./cmd/scalesim -write ../docs/scale.md\nwant %s", i+1, line)
		}
	}
}

func TestRender(t *testing.T) {
	got, err := render("a\n<!-- scalesim:x -->\nold\n<!-- /scalesim -->\nb\n", map[string]string{"x": "new\n"})
	if want := "a\n<!-- scalesim:x -->\nnew\n<!-- /scalesim -->\nb\n"; err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range []string{"", "<!-- scalesim:y -->\n<!-- /scalesim -->", "<!-- scalesim:x -->\n"} {
		if _, err := render(bad, map[string]string{"x": ""}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestFlags(t *testing.T) {
	o, err := parse([]string{"-nodes", "3, 7", "-rate", "1.5M,250", "-rtt", "1ms"}, &bytes.Buffer{})
	if err != nil || len(o.list) != 4 || o.list[0].Rate != 1.5e6 || o.list[3].Nodes != 7 || o.list[3].Rate != 250 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range [][]string{
		{"-nodes", "0"}, {"-nodes", "x"}, {"-rate", "10q"}, {"-rate", ""}, {"-rate", "NaN"}, {"-rtt", "5"}, {"-rtt", "-1ms"},
		{"-burst", "0"}, {"-procs", "0"}, {"-linger", "-1s"}, {"stray"}, {"-nope"},
	} {
		if _, err := parse(bad, &bytes.Buffer{}); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

func TestPrintsATable(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-nodes", "3", "-rate", "20k", "-rtt", "1ms"}, &out, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[2], "| 3 ") {
		t.Errorf("got\n%s", out.String())
	}
}
