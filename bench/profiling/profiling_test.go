package profiling

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/push"
	"github.com/google/pprof/profile"
)

// sample profile: main calls work (inlined into run) and wait; work is recursive.
func sample() *profile.Profile {
	fn := func(id uint64, name string) *profile.Function { return &profile.Function{ID: id, Name: name} }
	mainF, run, work, wait := fn(1, "main.main"), fn(2, "main.run"), fn(3, "main.work"), fn(4, "main.wait")
	loc := func(id uint64, fns ...*profile.Function) *profile.Location {
		l := &profile.Location{ID: id}
		for _, f := range fns {
			l.Line = append(l.Line, profile.Line{Function: f})
		}
		return l
	}
	lMain, lRun, lWork, lWait := loc(1, mainF), loc(2, work, run), loc(3, work), loc(4, wait)
	return &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{lWork, lRun, lMain}, Value: []int64{7, 70e6}},
			{Location: []*profile.Location{lWait, lMain}, Value: []int64{3, 30e6}},
		},
	}
}

func TestCosts(t *testing.T) {
	p, err := view(sample(), "cpu")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Cost{
		"main.work": {"main.work", 70e6, 70e6}, // twice on the stack, once in cum
		"main.wait": {"main.wait", 30e6, 30e6},
		"main.run":  {"main.run", 0, 70e6},
		"main.main": {"main.main", 0, 100e6},
	}
	costs := p.Costs()
	if len(costs) != len(want) || costs[0].Name != "main.work" {
		t.Fatalf("%v", costs)
	}
	for _, c := range costs {
		if c != want[c.Name] {
			t.Errorf("%+v, want %+v", c, want[c.Name])
		}
	}
	var b bytes.Buffer
	if err := p.Top(&b, "CPU", 2); err != nil || !strings.Contains(b.String(), "70ms  70.0%  70.0%") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if _, err := view(sample(), "alloc_space"); err == nil {
		t.Error("a view that the profile lacks")
	}
}

func TestCaptureLeavesReadableProfiles(t *testing.T) {
	dir := t.TempDir()
	c, err := Start(dir, Want{Mutex: true, Block: true, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	spin(300 * time.Millisecond)
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, v := range Views {
		if _, err := Read(filepath.Join(dir, v.File+".pprof"), v.Sample); err != nil {
			t.Errorf("%s: %v", v.Name(), err)
		}
	}
	p, err := Read(filepath.Join(dir, "cpu.pprof"), "cpu")
	if err != nil || p.Total() == 0 {
		t.Fatalf("an empty CPU profile, %v", err)
	}
	var b bytes.Buffer
	if err := p.Flame(&b, "t"); err != nil || !strings.Contains(b.String(), "profiling.spin") {
		t.Errorf("the flame graph: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "trace.out")); err != nil || info.Size() == 0 {
		t.Errorf("the trace: %v", err)
	}
}

// While profiles are pushed, the file and the server get the same CPU profile.
func TestCaptureBesidePush(t *testing.T) {
	var uploads atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { uploads.Add(1) }))
	defer srv.Close()
	s, err := push.Start(push.Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c, err := Start(dir, Want{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	spin(300 * time.Millisecond)
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	p, err := Read(filepath.Join(dir, "cpu.pprof"), "cpu")
	if err != nil || p.Total() == 0 {
		t.Errorf("an empty CPU profile, %v", err)
	}
	if uploads.Load() == 0 {
		t.Error("nothing was pushed")
	}
}

var sink int

//go:noinline
func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for i := range 10_000 {
			sink += i
		}
	}
}
