package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

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
	var sent atomic.Int64
	stop := company(50, func(int) {
		sent.Add(1)
		if err := rdb.Incr(ctx, key).Err(); err != nil {
			t.Error(err)
		}
	})
	defer stop()
	for range 4 {
		time.Sleep(20 * time.Millisecond)
		if err := c.MigrateSlot(slot, from, to); err != nil {
			t.Fatal(err)
		}
		from, to = to, from
	}
	time.Sleep(20 * time.Millisecond)
	stop()
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
	leave, cancel := context.WithCancel(ctx)
	defer cancel()
	var waiting sync.WaitGroup
	for range 100 {
		waiting.Go(func() { rdb.Get(leave, keys[slow]) })
	}
	// Behind the frozen node it would be the client's read timeout, 3 s, at best.
	const limit = 1500 * time.Millisecond
	for range 200 {
		for s, k := range keys {
			if s == slow {
				continue
			}
			ctx, cancel := context.WithTimeout(ctx, limit)
			v, err := rdb.Get(ctx, k).Result()
			cancel()
			if v != k || err != nil {
				t.Fatalf("healthy node: %q, %v", v, err)
			}
		}
	}
	cancel()
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
	if !errors.As(err, &uncertain) || uncertain.Command != "incr" {
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

// viaProxy is a dialer that reaches one address through another.
func viaProxy(addr, proxy string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, to string) (net.Conn, error) {
		if to == addr {
			to = proxy
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}
}
