package scale

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"reflect"
	"testing"
	"time"
)

var testCosts = Costs{
	Plain: 10 * time.Microsecond, Lone: 10 * time.Microsecond, Fixed: 15 * time.Microsecond, PerCommand: 1500 * time.Nanosecond,
	ServerFixed: 3 * time.Microsecond, ServerPerCommand: 500 * time.Nanosecond,
}

func TestEveryCommandIsAnsweredOnce(t *testing.T) {
	for _, c := range []Config{
		{Nodes: 1, Rate: 100_000, RTT: time.Millisecond},
		{Nodes: 1, Rate: 100_000, RTT: time.Millisecond, Plain: true},
		{Nodes: 3, Rate: 50_000, SharedProcs: true, Servers: 1, Procs: 2, Oversleep: 100 * time.Microsecond},
		{Nodes: 10, Rate: 100_000, RTT: time.Millisecond, Linger: time.Millisecond},
		{Nodes: 10, Rate: 100_000, RTT: time.Millisecond, Burst: 50, Local: true},
	} {
		c.Costs, c.Commands = testCosts, 20_000
		r := Run(c)
		want := uint64(c.Commands - c.Commands/5)
		if r.Latency.N() != want || r.Wait.N() != want {
			t.Errorf("%+v: %d replies and %d waits, want %d", c, r.Latency.N(), r.Wait.N(), want)
		}
		if r.Overloaded() {
			t.Errorf("%+v: overloaded", c)
		}
	}
}

func TestSameSeedSameResult(t *testing.T) {
	c := Config{Nodes: 3, Rate: 100_000, RTT: time.Millisecond, Costs: testCosts, Commands: 10_000}
	if !reflect.DeepEqual(Run(c), Run(c)) {
		t.Error("two runs of one Config differ")
	}
	other := c
	other.Seed = 7
	if reflect.DeepEqual(Run(c).Latency, Run(other).Latency) {
		t.Error("the seed changes nothing")
	}
}

// Little's law holds for any queue: what is under way on average is the rate times the time that each takes.
func TestLittlesLaw(t *testing.T) {
	const rate, rtt = 20_000, 2 * time.Millisecond
	r := Run(Config{Nodes: 1, Rate: rate, RTT: rtt, Plain: true, Costs: testCosts})
	want := rate * r.RoundTrip.Quantile(0.5).Seconds()
	if math.Abs(r.InFlight()-want) > 0.05*want {
		t.Errorf("%.1f in flight, want about %.1f", r.InFlight(), want)
	}
	if r.RoundTrip.Quantile(0.5) < rtt {
		t.Errorf("a round trip of %v on a network of %v", r.RoundTrip.Quantile(0.5), rtt)
	}
}

func TestFewCommandsTravelAlone(t *testing.T) {
	r := Run(Config{Nodes: 1, Rate: 1_000, RTT: time.Millisecond, Costs: testCosts, Commands: 10_000})
	if r.Alone() < 0.999 || r.CPUPerCommand() != testCosts.Lone || r.PipelineConns > 1 {
		t.Errorf("alone %.3f, %v, %d connections for pipelines", r.Alone(), r.CPUPerCommand(), r.PipelineConns)
	}
}

// With all places taken, depth is what arrives in a round trip, divided by the places.
func TestManyShareBatches(t *testing.T) {
	const rate, rtt = 100_000, 10 * time.Millisecond
	r := Run(Config{Nodes: 1, Rate: rate, RTT: rtt, Costs: testCosts, Commands: 100_000})
	want := rate * rtt.Seconds() / maxInFlight
	if math.Abs(r.Depth()-want) > 0.15*want {
		t.Errorf("depth %.1f, want about %.1f", r.Depth(), want)
	}
	if r.PipelineConns != pipelinePool || r.InFlight() > maxInFlight+0.2 {
		t.Errorf("%d connections for pipelines, %.1f in flight", r.PipelineConns, r.InFlight())
	}
}

func TestTooMuchIsAnOverload(t *testing.T) {
	if !Run(Config{Nodes: 1, Rate: 400_000, RTT: time.Millisecond, Procs: 1, Plain: true, Costs: testCosts}).Overloaded() {
		t.Error("four processors' work on one went unnoticed")
	}
}

func TestFit(t *testing.T) {
	var list []Flush
	for _, n := range []float64{4, 16, 64, 256} {
		list = append(list, Flush{Size: n, Client: time.Duration(20_000 + 1_500*n)})
	}
	l := Fit(list, func(f Flush) time.Duration { return f.Client })
	if math.Abs(float64(l.Fixed-20_000)) > 2 || math.Abs(float64(l.PerCommand-1_500)) > 1 {
		t.Errorf("%+v", l)
	}
	if got := (&Costs{Plain: 10, Fixed: 40, PerCommand: 2}).BreakEven(); got != 5 {
		t.Errorf("break-even at %v, want 5", got)
	}
}

// TestRulesAreTheEngines compares the constants of rules.go with those in the source of autopipe.
func TestRulesAreTheEngines(t *testing.T) {
	found := map[string]int64{}
	for _, file := range []string{"roundtrip.go", "options.go", "lane.go", "runner.go"} {
		for name, v := range constants(t, "../../autopipe/"+file) {
			found[name] = v
		}
	}
	for name, want := range map[string]int64{
		"flushEvery": int64(flushEvery), "overdue": int64(overdue), "leastInFlight": leastInFlight, "leastShare": leastShare,
		"fewCallers": fewCallers, "rttEpoch": int64(rttEpoch), "maxYields": maxYields,
		"DefaultMaxInFlight": maxInFlight, "DefaultMaxBatch": maxBatch,
	} {
		if got, ok := found[name]; !ok || got != want {
			t.Errorf("%s is %d in autopipe (found: %v), here %d: see whether the rules are still those of runner.go here", name, got, ok, want)
		}
	}
}

// constants evaluates the constant declarations of a file, one after the other.
func constants(t *testing.T, path string) map[string]int64 {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	scope := types.NewPackage("x", "x")
	for name, v := range map[string]time.Duration{"Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second} {
		scope.Scope().Insert(types.NewConst(0, scope, "time"+name, types.Typ[types.Int64], constant.MakeInt64(int64(v))))
	}
	out := map[string]int64{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			s := spec.(*ast.ValueSpec)
			for i, name := range s.Names {
				if i >= len(s.Values) {
					continue
				}
				v, err := types.Eval(fset, scope, token.NoPos, text(s.Values[i]))
				if err != nil || v.Value == nil {
					continue
				}
				if n, ok := constant.Int64Val(constant.ToInt(v.Value)); ok {
					out[name.Name] = n
					scope.Scope().Insert(types.NewConst(0, scope, name.Name, v.Type, v.Value))
				}
			}
		}
	}
	return out
}

// text is the expression with time.X as one name.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return types.ExprString(e.X) + e.Sel.Name
	case *ast.BinaryExpr:
		return text(e.X) + e.Op.String() + text(e.Y)
	}
	return types.ExprString(e)
}

// Jitter leaves the smallest round trip, and so the number of places, and makes the flushes stay longer in them.
func TestJitterMakesBatchesDeeper(t *testing.T) {
	c := Config{Nodes: 1, Rate: 40_000, RTT: time.Millisecond, Costs: testCosts}
	steady := Run(c).Depth()
	c.Jitter = time.Millisecond
	if late := Run(c).Depth(); late < 1.3*steady {
		t.Errorf("depth %.2f with jitter, %.2f without", late, steady)
	}
}
