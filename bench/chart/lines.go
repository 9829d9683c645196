// Package chart writes small SVG pictures: line charts of the results, and flame
// graphs of the profiles. They are plain files that any browser shows and that a
// diff can be read of.
package chart

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
)

// Point of a series. Points with a value of zero or less are left out.
type Point struct{ X, Y float64 }

// Series is one line. Its points may come in any order.
type Series struct {
	Name   string
	Points []Point
	Bold   bool
	// Colour is a number: the same in several charts is the same colour.
	Colour int
}

// Lines is a chart with both axes logarithmic: callers double from point to point,
// and clients differ by factors.
type Lines struct {
	Title, XLabel, YLabel string
	// Format of the values on the y axis.
	Format func(float64) string
	Series []Series
}

const (
	width, height      = 1000, 460
	left, right        = 80, 400 // the legend is on the right
	top, bottom        = 50, 55
	plotWide, plotHigh = width - left - right, height - top - bottom
)

// Colours that most people can tell apart; after the last, lines are dashed.
var colours = []string{
	"#4c78a8", "#9c755f", "#f58518", "#b279a2", "#72b7b2", "#8a8a8a", "#54a24b", "#e45756", "#7b1fa2", "#111111",
}

// WriteTo writes the picture.
func (l *Lines) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	xs, loY, hiY := l.extent()
	if len(xs) == 0 {
		return 0, fmt.Errorf("chart %q: nothing to draw", l.Title)
	}
	x := scale(xs[0], xs[len(xs)-1], left, left+plotWide)
	y := scale(loY, hiY, top+plotHigh, top)

	open(&b, width, height)
	text(&b, left, 26, "start", 16, "#222", l.Title)
	for _, t := range decades(loY, hiY) {
		line(&b, left, y(t), left+plotWide, y(t), "#e4e4e4", 1)
		text(&b, left-8, y(t)+4, "end", 11, "#555", l.format(t))
	}
	for _, v := range xs {
		line(&b, x(v), top, x(v), top+plotHigh, "#f1f1f1", 1)
		text(&b, x(v), top+plotHigh+18, "middle", 11, "#555", trim(v))
	}
	line(&b, left, top+plotHigh, left+plotWide, top+plotHigh, "#888", 1)
	text(&b, left+plotWide/2, height-14, "middle", 12, "#333", l.XLabel)
	text(&b, left, top-8, "end", 11, "#333", l.YLabel)
	for i, s := range l.Series {
		l.draw(&b, i, s, x, y)
	}
	b.WriteString("</svg>\n")
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func (l *Lines) draw(b *strings.Builder, i int, s Series, x, y func(float64) float64) {
	colour, wide, dash := colours[s.Colour%len(colours)], 1.8, ""
	if s.Bold {
		wide = 3.2
	}
	if s.Colour >= len(colours) {
		dash = ` stroke-dasharray="5 4"`
	}
	var path []string
	points := slices.SortedFunc(slices.Values(s.Points), func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	for _, p := range points {
		if p.X <= 0 || p.Y <= 0 {
			continue
		}
		path = append(path, fmt.Sprintf("%.1f,%.1f", x(p.X), y(p.Y)))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s"><title>%s, %s: %s</title></circle>`+"\n",
			x(p.X), y(p.Y), wide+1, colour, html.EscapeString(s.Name), trim(p.X), html.EscapeString(l.format(p.Y)))
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="%.1f"%s points="%s"/>`+"\n", colour, wide, dash, strings.Join(path, " "))
	at := float64(top + 8 + i*20)
	fmt.Fprintf(b, `<line x1="%d" y1="%.0f" x2="%d" y2="%.0f" stroke="%s" stroke-width="%.1f"%s/>`+"\n",
		left+plotWide+16, at, left+plotWide+38, at, colour, wide, dash)
	text(b, left+plotWide+44, at+4, "start", 11, "#222", s.Name)
}

func (l *Lines) format(v float64) string {
	if l.Format != nil {
		return l.Format(v)
	}
	return trim(v)
}

// extent of all points: every x that occurs, and the y range widened to look well.
func (l *Lines) extent() (xs []float64, lo, hi float64) {
	lo = math.Inf(1)
	for _, s := range l.Series {
		for _, p := range s.Points {
			if p.X > 0 && p.Y > 0 {
				xs = append(xs, p.X)
				lo, hi = min(lo, p.Y), max(hi, p.Y)
			}
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs), lo / 1.3, hi * 1.3
}

// scale maps the logarithm of [lo, hi] to [from, to].
func scale(lo, hi, from, to float64) func(float64) float64 {
	a, b := math.Log(lo), math.Log(hi)
	if b-a < 1e-9 {
		return func(float64) float64 { return (from + to) / 2 }
	}
	return func(v float64) float64 { return from + (math.Log(v)-a)/(b-a)*(to-from) }
}

// decades and their 2 and 5 parts within [lo, hi].
func decades(lo, hi float64) (out []float64) {
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= lo && v <= hi {
				out = append(out, v)
			}
		}
	}
	return out
}

func trim(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }
