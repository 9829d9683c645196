package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestAttach_HalfMigratedSlot: of the keys of an open slot some have moved and some have not. Each command whose key is gone
// is asked of the new owner with an ASKING of its own; with Attach and with AddHook.
func TestAttach_HalfMigratedSlot(t *testing.T) {
	c := redistest.RunCluster(t, 3, 0)
	const keys = 40
	key := func(i int) string { return fmt.Sprintf("{half}%d", i) }
	slot := redistest.Slot("{half}")
	from, err := c.Owner(slot)
	if err != nil {
		t.Fatal(err)
	}
	to := c.Masters()[0]
	if to == from {
		to = c.Masters()[1]
	}
	plain := c.Client(t)
	for i := range keys {
		plain.Set(bg, key(i), 0, 0)
	}
	if err := c.BeginMigrate(slot, from, to); err != nil {
		t.Fatal(err)
	}
	for i := range keys / 2 {
		if err := c.MoveKey(key(i), from, to); err != nil {
			t.Fatal(err)
		}
	}
	added := c.Client(t)
	added.AddHook(autopipe.New())
	attached := c.Client(t)
	ap := autopipe.Attach(attached)
	const rounds = 5
	for name, rdb := range map[string]*redis.ClusterClient{"AddHook": added, "Attach": attached} {
		many(keys, func(i int) {
			for range rounds {
				if err := rdb.Incr(bg, key(i)).Err(); err != nil {
					t.Errorf("%s: INCR %s: %v", name, key(i), err)
				}
			}
		})
	}
	for i := range keys {
		if n := plain.Get(bg, key(i)).Val(); n != fmt.Sprint(2*rounds) {
			t.Errorf("%s is %s, want %d", key(i), n, 2*rounds)
		}
	}
	if s := ap.Stats(); s.Retries["ask"] != keys/2*rounds || s.Outcomes["ok"] != keys*rounds || s.Outcomes["server_error"] != 0 {
		t.Errorf("stats %v, want %d asked and %d ok", s, keys/2*rounds, keys*rounds)
	}
}

// TestAttach_Watch: go-redis runs a cluster's transactions on a Tx of the node, past the cluster client's hooks. They work,
// under load too.
func TestAttach_Watch(t *testing.T) {
	c := redistest.RunCluster(t, 3, 0)
	rdb := c.Client(t)
	autopipe.Attach(rdb)
	stop := company(20, func(i int) { rdb.Get(bg, fmt.Sprint("company", i)) })
	defer stop()
	const workers, each = 8, 10
	many(workers, func(int) {
		for range each {
			for {
				err := rdb.Watch(bg, func(tx *redis.Tx) error {
					n, err := tx.Get(bg, "watched").Int()
					if err != nil && !errors.Is(err, redis.Nil) {
						return err
					}
					_, err = tx.TxPipelined(bg, func(p redis.Pipeliner) error { p.Set(bg, "watched", n+1, 0); return nil })
					return err
				}, "watched")
				if errors.Is(err, redis.TxFailedErr) {
					continue
				}
				if err != nil {
					t.Errorf("Watch: %v", err)
				}
				break
			}
		}
	})
	if n := rdb.Get(bg, "watched").Val(); n != fmt.Sprint(workers*each) {
		t.Errorf("watched is %s, want %d", n, workers*each)
	}
}

// TestSentinel_Failover: the master dies under INCR load. Every call returns, and the counter on the new master is within
// what was acknowledged and replicated, and what may have run.
func TestSentinel_Failover(t *testing.T) {
	s, err := redistest.StartSentinel(2, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	rdb := s.Client(t)
	ap := autopipe.New(autopipe.WithMaxRetries(10))
	rdb.AddHook(ap)
	if err := rdb.Set(bg, "n", 0, 0).Err(); err != nil {
		t.Fatal(err)
	}
	var ok, uncertain, failed atomic.Int64
	var after atomic.Bool
	var okAfter atomic.Int64
	stop := company(50, func(int) {
		ctx, cancel := context.WithTimeout(bg, 10*time.Second)
		defer cancel()
		switch err := rdb.Incr(ctx, "n").Err(); {
		case err == nil:
			ok.Add(1)
			if after.Load() {
				okAfter.Add(1)
			}
		case errors.As(err, new(*autopipe.UncertainError)), errors.Is(err, context.DeadlineExceeded):
			uncertain.Add(1)
		default:
			failed.Add(1)
			if !strings.Contains(err.Error(), "refused") && !strings.Contains(err.Error(), "READONLY") && !strings.Contains(err.Error(), "sentinel") {
				t.Errorf("INCR: %v", err)
			}
		}
	})
	time.Sleep(50 * time.Millisecond)
	if _, err := s.Failover(); err != nil {
		t.Fatal(err)
	}
	after.Store(true)
	until(t, "INCRs run on the new master", func() bool { return okAfter.Load() > 100 })
	stop()
	n, err := rdb.Get(bg, "n").Int64()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d acknowledged, %d uncertain, %d failed, counter %d; %v", ok.Load(), uncertain.Load(), failed.Load(), n, ap.Stats())
	// Replication is asynchronous: the last acknowledged writes of the old master may be lost with it, and nothing else.
	if n > ok.Load()+uncertain.Load() {
		t.Errorf("counter %d beyond %d acknowledged and %d uncertain: something ran twice", n, ok.Load(), uncertain.Load())
	}
	if n < okAfter.Load() {
		t.Errorf("counter %d below the %d acknowledged by the new master", n, okAfter.Load())
	}
	atRest(t, ap)
}
