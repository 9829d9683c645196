package plan

import (
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
)

// Named scenario, for profiles: a situation worth looking into.
type Named struct {
	Name, About string
	Scenario    Scenario
	// Variant that it is about, unless another is asked for.
	Variant string
}

// NamedScenarios that there are.
var NamedScenarios = []Named{
	{"set256", "256 callers writing: the everyday case", Scenario{Callers: 256, Mix: load.Set, Size: 16}, "autopipe"},
	{"set2000", "2000 callers writing: the stacks no longer fit the cache", Scenario{Callers: 2000, Mix: load.Set, Size: 16}, "autopipe"},
	{"get256", "256 callers reading", Scenario{Callers: 256, Mix: load.Get, Size: 16}, "autopipe"},
	{"mixed64", "64 callers, 90 % reads of 1 KiB", Scenario{Callers: 64, Mix: load.Mixed, Size: 1024}, "autopipe"},
	{"few8", "8 callers: small batches", Scenario{Callers: 8, Mix: load.Set, Size: 16}, "autopipe"},
	{"lone", "one caller, who must not pay for the others", Scenario{Callers: 1, Mix: load.Set, Size: 16}, "autopipe"},
	{"large", "64 callers with values of 64 KiB", Scenario{Callers: 64, Mix: load.Mixed, Size: 64 << 10}, "autopipe"},
	{"link1ms", "256 callers on a link of 1 ms", Scenario{Callers: 256, Mix: load.Set, Size: 16, Delay: time.Millisecond}, "autopipe"},
	{"open20k", "20000 arrivals per second, whatever the client does", Scenario{Callers: 256, Mix: load.Mixed, Size: 16, Rate: 20_000}, "autopipe"},
	{"observed", "256 callers with every observer on", Scenario{Callers: 256, Mix: load.Set, Size: 16}, "autopipe-observed"},
	{"window", "500 callers with windows of 200", Scenario{Callers: 500, Mix: load.Set, Size: 16}, "autopipe-window"},
}

// FindNamed scenario; false if there is none of that name.
func FindNamed(name string) (Named, bool) {
	for _, n := range NamedScenarios {
		if n.Name == name {
			return n, true
		}
	}
	return Named{}, false
}
