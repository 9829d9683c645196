package bench

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/probe"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

// window of the fixed-duration drivers. They ignore b.N: one run says it all, and it
// takes longer than the testing package's second, so that this asks for no other.
// Do not give a longer -benchtime: it would be run again and again.
var window = flag.Duration("window", 3*time.Second, "how long the throughput benchmarks run")

// pool of all pooling clients.
const pool = 100

var ctx = context.Background()

// server for all benchmarks, opened at the first need.
var server = sync.OnceValues(func() (*target.Redis, error) { return target.Open("") })

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if opened {
		if srv, err := server(); err == nil {
			srv.Close()
		}
	}
	if clusterOpened {
		if c, err := cluster(); err == nil {
			c.Close()
		}
	}
	os.Exit(code)
}

var opened bool

func addr(b *testing.B) string {
	b.Helper()
	opened = true
	srv, err := server()
	if err != nil {
		b.Skipf("no Redis: %v", err)
	}
	return srv.Addr()
}

// client of a variant; the benchmark is skipped, with the reason, when it is missing.
func client(b *testing.B, variant string) rival.Client {
	b.Helper()
	v := rival.Find(variant)
	if v.Missing != "" {
		b.Skip(v.Missing)
	}
	c, err := v.Open(rival.Setup{Addr: addr(b), Pool: pool})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

// work of so many callers, with its keys filled.
func work(b *testing.B, mix load.Mix, size, callers int) *load.Work {
	b.Helper()
	w := load.NewWork(mix, size, callers)
	s := probe.NewServer(addr(b))
	defer s.Close()
	if err := s.Fill(ctx, w.Keys, w.Value); err != nil {
		b.Fatal(err)
	}
	return w
}

// throughput drives a client for the fixed window and reports per executed command.
func throughput(b *testing.B, c rival.Client, w *load.Work, callers int) {
	b.Helper()
	run := func(d time.Duration) (*load.Result, probe.Process) {
		var before, used probe.Process
		res := load.Run(ctx, load.Options{
			Callers: callers, Duration: d,
			NewWorker: func(id int) load.Worker { return c.Worker(w, id) },
			Before:    func() { before = probe.ReadProcess() },
			After:     func() { used = probe.ReadProcess().Sub(before) },
		})
		if res.Err != nil {
			b.Fatalf("%d failed, the first with: %v", res.Failed, res.Err)
		}
		return res, used
	}
	b.ReportAllocs()
	run(min(*window/10, 300*time.Millisecond)) // connections, pools, caches
	b.ResetTimer()
	res, used := run(*window)
	b.StopTimer()
	n := float64(res.Executed)
	b.ReportMetric(res.Rate(), "ops/sec")
	b.ReportMetric(float64(res.Elapsed)/n, "ns/op")
	b.ReportMetric(float64(used.CPU)/n, "cpu-ns/op")
	b.ReportMetric(float64(used.Mallocs)/n, "allocs/op")
	b.ReportMetric(float64(used.Bytes)/n, "B/op")
	b.ReportMetric(float64(res.Latency.Quantile(0.99)), "p99-ns")
}

// perCommand issues b.N commands through callers goroutines: ns/op and allocs/op are
// those of one executed command. Windows are issued whole, so up to one window per
// caller more is executed than b.N asks for: ns/op divides by what was executed,
// allocs/op by b.N, so leave -benchtime long enough that this does not matter.
func perCommand(b *testing.B, c rival.Client, w *load.Work, callers int) {
	b.Helper()
	b.ReportAllocs()
	callers = min(callers, b.N)
	workers := make([]load.Worker, callers)
	for id := range workers {
		workers[id] = c.Worker(w, id)
		if _, err := workers[id].Do(ctx); err != nil { // warm
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	var all sync.WaitGroup
	executed := make([]int, callers)
	for id, worker := range workers {
		share := b.N / callers
		if id < b.N%callers {
			share++
		}
		all.Go(func() {
			n := 0
			for n < share {
				done, err := worker.Do(ctx)
				if err != nil {
					b.Error(err)
					return
				}
				n += done
			}
			executed[id] = n
		})
	}
	all.Wait()
	b.StopTimer()
	total := 0
	for _, n := range executed {
		total += n
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "ops/sec")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(total, 1)), "ns/op")
}

// the two implementations of a face, ours and go-redis's.
func both(b *testing.B, ours, theirs string, run func(b *testing.B, variant string)) {
	for _, x := range []struct{ name, variant string }{{"autopipe", ours}, {"go-redis", theirs}} {
		b.Run(x.name, func(b *testing.B) { run(b, x.variant) })
	}
}

// bytes for a sub-benchmark's name.
func kib(size int) string { return fmt.Sprintf("%dKiB", size/1024) }
