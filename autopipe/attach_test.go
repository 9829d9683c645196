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
			var wg sync.WaitGroup
			for g := range 100 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := range 30 {
						key := fmt.Sprint(t.Name(), g, ":", i)
						if err := rdb.Set(ctx, key, key, 0).Err(); err != nil {
							t.Error(err)
						}
						if v, err := rdb.Get(ctx, key).Result(); v != key || err != nil {
							t.Errorf("%s: %q, %v", key, v, err)
						}
					}
				}()
			}
			wg.Wait()
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

// TestAttach_SlotMoves: a slot moves under INCR load. Redirections are followed command by command, and no count is lost.
func TestAttach_SlotMoves(t *testing.T) {
	ctx := context.Background()
	c := redistest.RunCluster(t, 3, 0)
	rdb := c.Client(t)
	ap := autopipe.Attach(rdb)
	const key = "{moving}n"
	slot := redistest.Slot(key)
	from, err := c.Owner(slot)
	if err != nil {
		t.Fatal(err)
	}
	to := c.Masters()[0]
	if to == from {
		to = c.Masters()[1]
	}
	stop := make(chan struct{})
	var sent, failed atomic.Int64
	var wg sync.WaitGroup
	for range 50 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				sent.Add(1)
				if err := rdb.Incr(ctx, key).Err(); err != nil {
					failed.Add(1)
					t.Error(err)
				}
			}
		}()
	}
	for range 4 {
		time.Sleep(20 * time.Millisecond)
		if err := c.MigrateSlot(slot, from, to); err != nil {
			t.Fatal(err)
		}
		from, to = to, from
	}
	time.Sleep(20 * time.Millisecond)
	close(stop)
	wg.Wait()
	if n := rdb.Get(ctx, key).Val(); n != fmt.Sprint(sent.Load()) {
		t.Errorf("counter %s after %d INCRs", n, sent.Load())
	}
	s := ap.Stats()
	if s.Outcomes["ok"] != uint64(sent.Load()+1) || s.Outcomes["server_error"] != 0 || s.Pipelines != 0 || s.Retries["moved"]+s.Retries["ask"] == 0 {
		t.Errorf("stats %v, want %d ok and some redirected", s, sent.Load()+1)
	}
}

// TestAttach_PausedNode: while one node does not answer, the commands of the others keep their latency.
func TestAttach_PausedNode(t *testing.T) {
	ctx := context.Background()
	c := redistest.RunCluster(t, 3, 0)
	rdb := c.Client(t)
	autopipe.Attach(rdb)
	keys := map[*redistest.Server]string{}
	for i := 0; len(keys) < 3; i++ {
		k := fmt.Sprint("k", i)
		owner, err := c.Owner(redistest.Slot(k))
		if err != nil {
			t.Fatal(err)
		}
		keys[owner] = k
		rdb.Set(ctx, k, k, 0)
	}
	slow := c.Masters()[0]
	if err := slow.Freeze(); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	for range 100 {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			defer cancel()
			rdb.Get(ctx, keys[slow])
		}()
	}
	var worst time.Duration
	for range 200 {
		for s, k := range keys {
			if s == slow {
				continue
			}
			start := time.Now()
			if v, err := rdb.Get(ctx, k).Result(); v != k || err != nil {
				t.Errorf("healthy node: %q, %v", v, err)
			}
			worst = max(worst, time.Since(start))
		}
	}
	if worst > 200*time.Millisecond {
		t.Errorf("a command of a healthy node took %v", worst)
	}
	waiting.Wait()
	if err := slow.Thaw(); err != nil {
		t.Fatal(err)
	}
}

// TestAttach_UncertainWrite: the error keeps the cluster client from sending an INCR twice, and reads as on a plain
// client.
func TestAttach_UncertainWrite(t *testing.T) {
	ctx := context.Background()
	c := redistest.RunCluster(t, 3, 0)
	const key = "counter"
	owner, err := c.Owner(redistest.Slot(key))
	if err != nil {
		t.Fatal(err)
	}
	proxy := redistest.RunProxy(t, owner.Addr())
	rdb := c.Client(t, func(o *redis.ClusterOptions) { o.Dialer = viaProxy(owner.Addr(), proxy.Addr()) })
	ap := autopipe.Attach(rdb)
	rdb.Set(ctx, key, 0, 0)
	proxy.CutAfterRequest("incr " + key)
	err = rdb.Incr(ctx, key).Err()
	var uncertain *autopipe.UncertainError
	if !asUncertain(err, &uncertain) || uncertain.Command != "incr" {
		t.Errorf("INCR: %v (%T), want *UncertainError", err, err)
	}
	if n := rdb.Get(ctx, key).Val(); n != "1" {
		t.Errorf("counter %s, want 1", n)
	}
	// A read on a cut connection is tried again by the cluster client.
	proxy.CutAfterRequest("get " + key)
	if v, err := rdb.Get(ctx, key).Result(); v != "1" || err != nil {
		t.Errorf("GET: %q, %v", v, err)
	}
	if s := ap.Stats(); s.Outcomes["uncertain"] != 1 || s.Outcomes["ok"] != 3 || s.Outcomes["transport_error"] != 0 || s.Retries["transport"] != 1 {
		t.Errorf("stats %v", s)
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
	var wg sync.WaitGroup
	for g := range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 20 {
				key := fmt.Sprint(g, ":", i)
				if err := rdb.Set(ctx, key, key, 0).Err(); err != nil {
					t.Error(err)
				}
				if v := rdb.Get(ctx, key).Val(); v != key {
					t.Errorf("%s: %q", key, v)
				}
			}
		}()
	}
	wg.Wait()
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
