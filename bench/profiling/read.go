package profiling

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/chart"
	"github.com/google/pprof/profile"
)

// View is one number of a profile that is worth a table and a graph.
type View struct {
	File   string // without its ending
	Sample string // type of the sample
	Title  string
}

// Views of the profiles that a Capture leaves.
var Views = []View{
	{"cpu", "cpu", "CPU time"},
	{"heap", "alloc_space", "Allocated bytes, since the program began"},
	{"heap", "alloc_objects", "Allocated objects, since the program began"},
	{"mutex", "delay", "Time others waited for a lock"},
	{"block", "delay", "Time blocked"},
}

// Name for the files made of a view.
func (v View) Name() string {
	if v.File == "heap" {
		return v.Sample
	}
	return v.File
}

// Profile of one view.
type Profile struct {
	parsed *profile.Profile
	index  int // of the value in a sample
	unit   string
	total  int64
}

// Read a profile file.
func Read(path, sample string) (*Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return view(p, sample)
}

func view(p *profile.Profile, sample string) (*Profile, error) {
	for i, t := range p.SampleType {
		if t.Type == sample {
			out := &Profile{parsed: p, index: i, unit: t.Unit}
			for _, s := range p.Sample {
				out.total += s.Value[i]
			}
			return out, nil
		}
	}
	return nil, fmt.Errorf("the profile has no %s", sample)
}

// Total of all samples.
func (p *Profile) Total() int64 { return p.total }

// Words for a value.
func (p *Profile) Words(v int64) string {
	switch p.unit {
	case "nanoseconds":
		return time.Duration(v).Round(10 * time.Microsecond).String()
	case "bytes":
		return fmt.Sprintf("%.1f MB", float64(v)/1e6)
	}
	return fmt.Sprintf("%d", v)
}

// stack of a sample, outermost function first, inlined ones in their place.
func stack(s *profile.Sample) (names []string) {
	for _, loc := range slices.Backward(s.Location) {
		for _, l := range slices.Backward(loc.Line) {
			if l.Function != nil {
				names = append(names, l.Function.Name)
			}
		}
	}
	return names
}

// Cost of a function: in itself, and with all it calls.
type Cost struct {
	Name      string
	Flat, Cum int64
}

// Costs of all functions, the largest flat cost first.
func (p *Profile) Costs() []Cost {
	byName := map[string]*Cost{}
	for _, s := range p.parsed.Sample {
		v, names := s.Value[p.index], stack(s)
		seen := map[string]bool{} // a recursive function counts once
		for i, name := range names {
			c := byName[name]
			if c == nil {
				c = &Cost{Name: name}
				byName[name] = c
			}
			if i == len(names)-1 {
				c.Flat += v
			}
			if !seen[name] {
				seen[name] = true
				c.Cum += v
			}
		}
	}
	out := make([]Cost, 0, len(byName))
	for _, c := range byName {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Flat, a.Flat), cmp.Compare(b.Cum, a.Cum), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Top writes the n costliest functions.
func (p *Profile) Top(w io.Writer, title string, n int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in all\n%14s %6s %6s %14s %6s  function\n", title, p.Words(p.total), "flat", "", "sum", "cum", "")
	var sum int64
	share := func(v int64) float64 { return 100 * float64(v) / float64(max(p.total, 1)) }
	costs := p.Costs()
	for _, c := range costs[:min(n, len(costs))] {
		sum += c.Flat
		fmt.Fprintf(&b, "%14s %5.1f%% %5.1f%% %14s %5.1f%%  %s\n", p.Words(c.Flat), share(c.Flat), share(sum), p.Words(c.Cum), share(c.Cum), c.Name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Flame writes the flame graph.
func (p *Profile) Flame(w io.Writer, title string) error {
	root := &chart.Frame{Name: "all"}
	for _, s := range p.parsed.Sample {
		root.Add(stack(s), s.Value[p.index])
	}
	return chart.Flame(w, fmt.Sprintf("%s: %s", title, p.Words(p.total)), root, p.Words)
}
