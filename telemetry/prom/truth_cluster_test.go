package prom_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
)

// On a cluster with Attach each node has its lane, and the redirections of a moving slot are retries, not outcomes.
func TestTruthOnACluster(t *testing.T) {
	cluster := redistest.RunCluster(t, 3, 0)
	reg := prometheus.NewRegistry()
	rdb := cluster.Client(t)
	hook := autopipe.Attach(rdb, autopipe.WithObserver(prom.New(reg)))
	var b books
	var wg sync.WaitGroup
	var moved atomic.Bool
	for g := range goroutines() {
		wg.Go(func() {
			for i := 0; i < 50 || !moved.Load(); i++ {
				key := "key:" + strconv.Itoa(g*i)
				b.add("incr", rdb.Incr(context.Background(), key).Err())
				b.add("incr", rdb.Incr(context.Background(), "moving").Err())
				b.add("get", rdb.Get(context.Background(), "missing:"+key).Err())
			}
		})
	}
	slot := redistest.Slot("moving")
	from, err := cluster.Owner(slot)
	if err != nil {
		t.Fatal(err)
	}
	for b.commands.Load() < 200 { // until the client knows where the slot is now
		time.Sleep(time.Millisecond)
	}
	for _, to := range cluster.Masters() {
		if to != from {
			if err := cluster.MigrateSlot(slot, from, to); err != nil {
				t.Error(err)
			}
			break
		}
	}
	moved.Store(true)
	wg.Wait()
	all := gather(t, reg)
	for o := range telemetry.NumOutcomes {
		name := telemetry.Outcome(o).String()
		if got := sum(all["autopipe_commands_total"], "outcome", name); got != float64(b.outcomes[o].Load()) {
			t.Errorf("%s: %g, want %d", name, got, b.outcomes[o].Load())
		}
	}
	if got, want := sum(all["autopipe_batch_size"]), float64(hook.Stats().Batches); got != want {
		t.Errorf("%g batches, want %g", got, want)
	}
	if sum(all["autopipe_retries_total"], "cause", "moved")+sum(all["autopipe_retries_total"], "cause", "ask") == 0 {
		t.Error("no command met the moving slot")
	}
	t.Logf("%v", hook.Stats())
	nodes := map[string]bool{}
	for _, m := range all["autopipe_commands_total"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "node" && l.GetValue() != "" && m.GetCounter().GetValue() > 0 {
				nodes[l.GetValue()] = true
			}
		}
	}
	if len(nodes) < 3 {
		t.Errorf("nodes with commands: %v", nodes)
	}
}
