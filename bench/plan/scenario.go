// Package plan says what is measured: scenarios, and the sets of them that have a
// name.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

// Scenario is one situation in which all variants are compared.
type Scenario struct {
	Callers int           `json:"callers"`
	Mix     load.Mix      `json:"mix"`
	Size    int           `json:"size"`           // of values, in bytes
	Delay   time.Duration `json:"delay"`          // what the link adds to a round trip
	Rate    float64       `json:"rate,omitempty"` // arrivals per second; 0 is a closed loop
}

// String in the form that benchstat reads as a configuration.
func (s Scenario) String() string {
	out := fmt.Sprintf("callers=%d/mix=%s/size=%d/delay=%s", s.Callers, s.Mix, s.Size, s.Delay)
	if s.Rate > 0 {
		out += "/open=" + strconv.FormatFloat(s.Rate, 'f', -1, 64)
	}
	return out
}

// Words for people.
func (s Scenario) Words() string {
	return fmt.Sprintf("%d %s, %s", s.Callers, plural(s.Callers, "caller"), s.Group().Words())
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Group is a scenario without its callers: what one plot shows.
type Group struct {
	Mix   load.Mix
	Size  int
	Delay time.Duration
	Rate  float64
}

// Group of the scenario.
func (s Scenario) Group() Group { return Group{s.Mix, s.Size, s.Delay, s.Rate} }

// Words for people.
func (g Group) Words() string {
	mix := map[load.Mix]string{load.Set: "SET", load.Get: "GET", load.Mixed: "90 % GET 10 % SET"}[g.Mix]
	link := "no added delay"
	if g.Delay > 0 {
		link = g.Delay.String() + " link"
	}
	out := fmt.Sprintf("%s %s, %s", mix, Bytes(g.Size), link)
	if g.Rate > 0 {
		out += fmt.Sprintf(", open loop at %.0f/s", g.Rate)
	}
	return out
}

// Slug for file names.
func (g Group) Slug() string {
	out := fmt.Sprintf("%s-%d", g.Mix, g.Size)
	if g.Delay > 0 {
		out += "-" + strings.ReplaceAll(g.Delay.String(), "µ", "u")
	}
	if g.Rate > 0 {
		out += fmt.Sprintf("-open%.0f", g.Rate)
	}
	return out
}

// Bytes in words.
func Bytes(n int) string {
	if n >= 1024 && n%1024 == 0 {
		return fmt.Sprintf("%d KiB", n/1024)
	}
	return fmt.Sprintf("%d B", n)
}

// Block is the cross product of its lists.
type Block struct {
	Callers []int
	Mixes   []load.Mix
	Sizes   []int
	Delays  []time.Duration
	Rates   []float64
}

// Expand the blocks to scenarios: each once, and ordered so that the delay, which
// costs new connections, changes as seldom as can be.
func Expand(blocks ...Block) []Scenario {
	var out []Scenario
	for _, b := range blocks {
		for _, d := range b.Delays {
			for _, r := range b.Rates {
				for _, m := range b.Mixes {
					for _, s := range b.Sizes {
						for _, c := range b.Callers {
							out = append(out, Scenario{c, m, s, d, r})
						}
					}
				}
			}
		}
	}
	seen := map[Scenario]bool{}
	out = slices.DeleteFunc(out, func(s Scenario) bool {
		dup := seen[s]
		seen[s] = true
		return dup
	})
	slices.SortStableFunc(out, func(a, b Scenario) int { return cmp.Compare(a.Delay, b.Delay) })
	return out
}
