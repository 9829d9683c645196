package chart

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"slices"
	"strings"
)

// Frame is a node of a flame graph: a function as called by its parent, with all
// that it called.
type Frame struct {
	Name     string
	Value    int64 // itself and its children
	children map[string]*Frame
}

// Add a stack, outermost function first, to the root frame.
func (f *Frame) Add(stack []string, value int64) {
	f.Value += value
	at := f
	for _, name := range stack {
		next := at.children[name]
		if next == nil {
			if at.children == nil {
				at.children = map[string]*Frame{}
			}
			next = &Frame{Name: name}
			at.children[name] = next
		}
		next.Value += value
		at = next
	}
}

// depth of the frames that are wide enough to be seen.
func (f *Frame) depth(least int64) int {
	d := 0
	for _, c := range f.children {
		if c.Value >= least {
			d = max(d, c.depth(least))
		}
	}
	return d + 1
}

const (
	flameWide  = 1200
	flameRow   = 17
	flameTop   = 34
	flameChar  = 6.4 // of the text, roughly
	flameLeast = 0.5 // narrower frames are not drawn
)

// Flame writes the flame graph of root. format puts a value into words.
func Flame(w io.Writer, title string, root *Frame, format func(int64) string) error {
	if root.Value <= 0 {
		return fmt.Errorf("flame graph %q: the profile is empty", title)
	}
	per := float64(flameWide) / float64(root.Value)
	rows := root.depth(int64(flameLeast / per))
	high := flameTop + rows*flameRow + 10

	var b strings.Builder
	open(&b, flameWide, high)
	text(&b, 8, 22, "start", 15, "#222", title)
	var draw func(f *Frame, x float64, row int)
	draw = func(f *Frame, x float64, row int) {
		wide := float64(f.Value) * per
		if wide < flameLeast {
			return
		}
		y := float64(high - 10 - (row+1)*flameRow) // the root is at the bottom
		share := 100 * float64(f.Value) / float64(root.Value)
		fmt.Fprintf(&b, `<g><title>%s: %s, %.1f %%</title><rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s" stroke="white" stroke-width="0.5"/>`,
			html.EscapeString(f.Name), html.EscapeString(format(f.Value)), share, x, y, wide, flameRow-1, tint(f.Name))
		if room := int((wide - 6) / flameChar); room >= 3 {
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="11" fill="#222">%s</text>`, x+3, y+12, html.EscapeString(shorten(f.Name, room)))
		}
		b.WriteString("</g>\n")
		for _, c := range f.sorted() {
			draw(c, x, row+1)
			x += float64(c.Value) * per
		}
	}
	draw(root, 0, 0)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// sorted by name: two graphs of the same program can be laid side by side.
func (f *Frame) sorted() []*Frame {
	out := make([]*Frame, 0, len(f.children))
	for _, c := range f.children {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *Frame) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// shorten a function's name to n characters: its path goes first.
func shorten(name string, n int) string {
	if len(name) > n {
		name = name[strings.LastIndex(name, "/")+1:]
	}
	if len(name) > n {
		name = name[:n-1] + "…"
	}
	return name
}

// tint by package: the same package has the same colour in every graph.
func tint(name string) string {
	pkg := name
	if i := strings.LastIndex(pkg, "/"); i >= 0 {
		if j := strings.Index(pkg[i:], "."); j > 0 {
			pkg = pkg[:i+j]
		}
	} else if j := strings.Index(pkg, "."); j > 0 {
		pkg = pkg[:j]
	}
	switch {
	case strings.Contains(pkg, "redis-autopipe/"):
		return "#f6a04d" // ours stands out
	case pkg == "runtime":
		return "#d5d8dc"
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(pkg))
	return fmt.Sprintf("hsl(%d,55%%,78%%)", h.Sum32()%360)
}
