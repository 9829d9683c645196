package autopipe_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// nodeWatch collects which nodes batches went to.
type nodeWatch struct{ seen sync.Map }

func (w *nodeWatch) Attach(telemetry.Pipe) telemetry.Events {
	return telemetry.Events{BatchEnd: func(_ context.Context, b *telemetry.Batch) {
		n, _ := w.seen.LoadOrStore(b.Node, new(atomic.Int64))
		n.(*atomic.Int64).Add(int64(b.Size))
	}}
}

func (w *nodeWatch) nodes() map[string]int64 {
	m := map[string]int64{}
	w.seen.Range(func(k, v any) bool { m[k.(string)] = v.(*atomic.Int64).Load(); return true })
	return m
}

func TestAttach_Cluster(t *testing.T) {
	ctx := context.Background()
	c := redistest.RunCluster(t, 3, 0)
	for _, used := range []bool{false, true} {
		t.Run(fmt.Sprint("used before ", used), func(t *testing.T) {
			rdb := c.Client(t)
			if used { // its nodes exist already
				for i := range 100 {
					rdb.Get(ctx, fmt.Sprint(i))
				}
			}
			w := &nodeWatch{}
			ap := autopipe.Attach(rdb, autopipe.WithObserver(w))
			if autopipe.Attach(rdb) != ap {
				t.Error("a second Attach made a second hook")
			}
			many(100, func(g int) {
				for i := range 30 {
					key := fmt.Sprint(t.Name(), g, ":", i)
					if err := rdb.Set(ctx, key, key, 0).Err(); err != nil {
						t.Error(err)
					}
					if v, err := rdb.Get(ctx, key).Result(); v != key || err != nil {
						t.Errorf("%s: %q, %v", key, v, err)
					}
				}
			})
			s := ap.Stats()
			if s.Commands != 6000 || s.Outcomes["ok"] != 6000 || s.MeanBatch() < 2 {
				t.Errorf("stats %v", s)
			}
			nodes := w.nodes()
			for _, addr := range c.Addrs() {
				if nodes[addr] == 0 {
					t.Errorf("no batch for node %s: %v", addr, nodes)
				}
			}
			if len(nodes) != 3 {
				t.Errorf("batches for %v, want the three nodes", nodes)
			}
		})
	}
}

func TestAttach_SubmitAndWindow(t *testing.T) {
	ctx := context.Background()
	c := redistest.RunCluster(t, 3, 0)
	rdb := c.Client(t)
	ap := autopipe.Attach(rdb)
	var fs []*autopipe.Future[*redis.IntCmd]
	for i := range 300 {
		fs = append(fs, autopipe.Submit(ctx, rdb, redis.NewIntCmd(ctx, "incr", fmt.Sprint("n", i%10))))
	}
	for _, f := range fs {
		if _, err := f.Wait(ctx); err != nil {
			t.Error(err)
		}
	}
	w := autopipe.NewWindow(rdb)
	var reads []*redis.StringCmd
	var all []*autopipe.Pending
	for i := range 20 {
		w.Set(ctx, "w", i, 0)
		reads = append(reads, w.Get(ctx, "w"), w.Get(ctx, "n3"))
		all = append(all, w.Submit(ctx))
	}
	for i, p := range all {
		if err := p.Wait(ctx); err != nil {
			t.Error(err)
		}
		if got := reads[2*i].Val(); got != fmt.Sprint(i) {
			t.Errorf("window %d read %s", i, got)
		}
		if got := reads[2*i+1].Val(); got != "30" {
			t.Errorf("n3 is %s, want 30", got)
		}
	}
	if s := ap.Stats(); s.Outcomes["ok"] < 300 {
		t.Errorf("stats %v", s)
	}
}

func TestAttach_Ring(t *testing.T) {
	ctx := context.Background()
	a, b := redistest.Run(t), redistest.Run(t)
	rdb := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": a.Addr(), "b": b.Addr()}, HeartbeatFrequency: 50 * time.Millisecond})
	defer func() { _ = rdb.Close() }()
	w := &nodeWatch{}
	ap := autopipe.Attach(rdb, autopipe.WithObserver(w))
	many(100, func(g int) {
		for i := range 20 {
			key := fmt.Sprint(g, ":", i)
			if err := rdb.Set(ctx, key, key, 0).Err(); err != nil {
				t.Error(err)
			}
			if v := rdb.Get(ctx, key).Val(); v != key {
				t.Errorf("%s: %q", key, v)
			}
		}
	})
	if n := w.nodes(); n[a.Addr()] == 0 || n[b.Addr()] == 0 || ap.Stats().MeanBatch() < 2 {
		t.Errorf("batches for %v, %v", n, ap.Stats())
	}
	// One shard dies: its commands fail, the other's work.
	_ = b.Close()
	ok, bad := 0, 0
	for i := range 100 {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		if err := rdb.Get(ctx, fmt.Sprint("none", i)).Err(); err == redis.Nil {
			ok++
		} else {
			bad++
		}
		cancel()
		if bad > 3 {
			break
		}
	}
	if ok == 0 {
		t.Errorf("%d commands worked after one of two shards died", ok)
	}
}

// TestAttach_ForgetsClients: what Attach remembers goes with the client.
func TestAttach_ForgetsClients(t *testing.T) {
	srv := redistest.Shared(t)
	collected := make(chan struct{}, 100)
	for range 20 {
		rdb := redis.NewClient(&redis.Options{Addr: srv.Addr()})
		ap := autopipe.Attach(rdb)
		rdb.Ping(context.Background())
		runtime.AddCleanup(ap, func(struct{}) { collected <- struct{}{} }, struct{}{})
		_ = rdb.Close()
	}
	gone := 0
	until(t, "hooks collected", func() bool {
		runtime.GC()
		for {
			select {
			case <-collected:
				gone++
				continue
			default:
			}
			return gone >= 19 // the last may still be on this stack
		}
	})
}
