package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
)

// wellFormed fails unless svg parses as XML, and returns how many elements of each
// name it has.
func wellFormed(t *testing.T, svg string) map[string]int {
	t.Helper()
	count := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return count
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if e, ok := tok.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

func TestLines(t *testing.T) {
	l := Lines{Title: "a < b & c", XLabel: "callers", YLabel: "commands/s"}
	for i := range 12 {
		s := Series{Name: fmt.Sprintf("client %d", i), Bold: i == 3, Colour: i}
		for _, x := range []float64{1, 8, 256, 2000} {
			s.Points = append(s.Points, Point{x, x * float64(i)}) // client 0 has nothing to show
		}
		l.Series = append(l.Series, s)
	}
	var b strings.Builder
	if _, err := l.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	n := wellFormed(t, b.String())
	if n["polyline"] != 12 || n["circle"] != 44 {
		t.Errorf("drew %v", n)
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Error("a coordinate is no number")
	}
}

func TestLinesEdges(t *testing.T) {
	if _, err := (&Lines{}).WriteTo(io.Discard); err == nil {
		t.Error("an empty chart was drawn")
	}
	one := Lines{Series: []Series{{Name: "one", Points: []Point{{4, 4}}}}}
	var b strings.Builder
	if _, err := one.WriteTo(&b); err != nil || strings.Contains(b.String(), "NaN") {
		t.Errorf("a single point: %v", err)
	}
}

func TestFlame(t *testing.T) {
	root := &Frame{Name: "all"}
	root.Add([]string{"main.main", "main.work"}, 70)
	root.Add([]string{"main.main", "runtime.gc"}, 29)
	root.Add([]string{"main.main", "x/y.tiny<int>"}, 1)
	if root.Value != 100 || root.children["main.main"].Value != 100 {
		t.Fatalf("values do not add up: %+v", root)
	}
	var b strings.Builder
	if err := Flame(&b, "t", root, func(v int64) string { return fmt.Sprint(v, " ms") }); err != nil {
		t.Fatal(err)
	}
	if n := wellFormed(t, b.String()); n["g"] != 5 {
		t.Errorf("drew %d frames, want 5", n["g"])
	}
	if err := Flame(io.Discard, "t", &Frame{}, nil); err == nil {
		t.Error("an empty profile was drawn")
	}
}
