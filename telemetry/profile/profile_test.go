package profile

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(redistest.Main(m)) }

func batch(ctx context.Context, n int) *telemetry.Batch {
	b := &telemetry.Batch{Reason: telemetry.FlushDrain}
	for range n {
		b.Commands = append(b.Commands, telemetry.Command{Name: "get", Context: ctx})
	}
	return b
}

// onNewGoroutine runs f on a goroutine without labels.
func onNewGoroutine(f func()) {
	var wg sync.WaitGroup
	wg.Go(func() {
		pprof.SetGoroutineLabels(context.Background())
		f()
	})
	wg.Wait()
}

func TestCallersLabelsComeBack(t *testing.T) {
	ev := New().Attach(telemetry.Pipe{Name: "p"})
	labeled := pprof.WithLabels(context.Background(), pprof.Labels("who", "caller"))
	for name, c := range map[string]struct {
		goroutine, command context.Context // what gave them their labels
		size               int
		marked             bool // ours are on while the batch runs
	}{
		"a runner with a batch":                           {context.Background(), context.Background(), 5, true},
		"a runner with a batch of a labeled caller":       {context.Background(), labeled, 5, true},
		"a runner with a lone command":                    {context.Background(), labeled, 1, true},
		"a caller without labels":                         {context.Background(), context.Background(), 1, true},
		"a caller with labels":                            {labeled, labeled, 1, true},
		"a caller with labels that its context has not":   {labeled, context.Background(), 1, false},
		"a caller with other labels than its context has": {labeled, pprof.WithLabels(labeled, pprof.Labels("a", "b")), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			onNewGoroutine(func() {
				pprof.SetGoroutineLabels(c.goroutine)
				before := current()
				b := batch(c.command, c.size)
				ctx := ev.BatchStart(c.command, b)
				during := current()
				ev.BatchEnd(ctx, b)
				if marked := during != before; marked != c.marked {
					t.Errorf("labels set: %v, want %v", marked, c.marked)
				}
				if current() != before {
					t.Error("the goroutine ends with other labels than it had")
				}
			})
		})
	}
}

func TestNoAllocations(t *testing.T) {
	ev := New().Attach(telemetry.Pipe{Name: "p"})
	ctx := pprof.WithLabels(context.Background(), pprof.Labels("who", "caller"))
	one, many := batch(ctx, 1), batch(ctx, 10)
	pprof.Do(ctx, pprof.Labels(), func(ctx context.Context) {
		if n := testing.AllocsPerRun(100, func() {
			ev.BatchEnd(ev.BatchStart(ctx, one), one)
			ev.BatchEnd(ev.BatchStart(ctx, many), many)
		}); n != 0 {
			t.Errorf("%g allocations", n)
		}
	})
}

func TestPipeNameIsCleaned(t *testing.T) {
	if got := clean("my pipe={a,b}"); got != "my_pipe__a_b_" {
		t.Errorf("got %q", got)
	}
}

// snoop is a hook after autopipe's that looks at the labels of the goroutine that runs it.
type snoop struct{ seen sync.Map }

func (s *snoop) look() {
	var buf bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&buf, 1)
	for line := range strings.Lines(buf.String()) {
		if labels, ok := strings.CutPrefix(line, "# labels: "); ok {
			s.seen.Store(strings.TrimSpace(labels), true)
		}
	}
}

func (s *snoop) DialHook(next redis.DialHook) redis.DialHook { return next }
func (s *snoop) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "get" {
			s.look()
		}
		return next(ctx, cmd)
	}
}
func (s *snoop) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() == "get" {
			s.look()
		}
		return next(ctx, cmds)
	}
}

func TestLabelsInARealProfile(t *testing.T) {
	rdb := redistest.Run(t).Client(t)
	s := &snoop{}
	rdb.AddHook(autopipe.New(autopipe.WithName("my pipe"), autopipe.WithObserver(New())))
	rdb.AddHook(s)
	ctx := context.Background()
	pprof.Do(ctx, pprof.Labels("who", "lone caller"), func(ctx context.Context) {
		before := current()
		rdb.Get(ctx, "a")
		rdb.Get(context.Background(), "a")
		if current() != before {
			t.Error("the caller's labels are gone")
		}
	})
	var wg sync.WaitGroup
	var wrong atomic.Int64
	for i := range 20 {
		wg.Go(func() {
			pprof.Do(ctx, pprof.Labels("who", fmt.Sprint(i)), func(ctx context.Context) {
				before := current()
				for range 10 {
					rdb.Get(ctx, "a-secret-key")
				}
				if current() != before {
					wrong.Add(1)
				}
			})
		})
	}
	wg.Wait()
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d of 20 callers lost their labels", n)
	}
	stages := map[string]bool{}
	s.seen.Range(func(k, _ any) bool {
		labels := k.(string)
		for _, stage := range []string{StageLone, StageBatch} {
			if strings.Contains(labels, `"autopipe_stage":"`+stage+`"`) && strings.Contains(labels, `"autopipe_pipe":"my_pipe"`) {
				stages[stage] = true
			}
		}
		if strings.Contains(labels, "secret") {
			t.Errorf("labels show a key: %s", labels)
		}
		if strings.Contains(labels, `"autopipe_stage":"batch"`) && strings.Contains(labels, `"who"`) {
			t.Errorf("a runner has a caller's labels: %s", labels)
		}
		return true
	})
	if !stages[StageLone] || !stages[StageBatch] {
		t.Errorf("stages seen: %v", stages)
	}
	// Nothing of ours stays behind on this goroutine.
	time.Sleep(10 * time.Millisecond)
	var buf bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&buf, 1)
	if strings.Contains(buf.String(), "autopipe_stage") {
		t.Errorf("labels at rest:\n%s", buf.String())
	}
}

func BenchmarkBatch(b *testing.B) {
	ev := New().Attach(telemetry.Pipe{Name: "p"})
	ctx := context.Background()
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			batch := batch(ctx, n)
			b.ReportAllocs()
			for b.Loop() {
				ev.BatchEnd(ev.BatchStart(ctx, batch), batch)
			}
		})
	}
	b.Run("lone with labels", func(b *testing.B) {
		pprof.Do(ctx, pprof.Labels("who", "caller"), func(ctx context.Context) {
			batch := batch(ctx, 1)
			b.ReportAllocs()
			for b.Loop() {
				ev.BatchEnd(ev.BatchStart(ctx, batch), batch)
			}
		})
	})
}
