package autopipe_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestRetry_ServerKilled: the server dies under load and comes back. Every call returns, and the counter is within what
// the callers know. The server writes its log before it replies, so that an acknowledged INCR is there afterwards.
func TestRetry_ServerKilled(t *testing.T) {
	for _, endless := range []bool{true, false} {
		ctx, cancel := context.Background(), context.CancelFunc(func() {})
		if !endless {
			ctx, cancel = context.WithCancel(ctx)
		}
		defer cancel()
		srv := redistest.Run(t, redistest.Args("--appendonly", "yes", "--appendfsync", "no"))
		rdb, ap := hookedOn(t, srv, failFast)
		var ok, uncertain, failed atomic.Int64
		stop := company(100, func(int) {
			switch err := rdb.Incr(ctx, "counter").Err(); {
			case err == nil:
				ok.Add(1)
			case isUncertain(err):
				uncertain.Add(1)
			default:
				failed.Add(1)
			}
		})
		defer stop()
		for round := range 2 {
			before := ok.Load()
			until(t, "load", func() bool { return ok.Load() > before+500 })
			if err := srv.Kill(); err != nil {
				t.Fatal(err)
			}
			if round == 1 { // long enough for callers to reach their limit
				before := failed.Load()
				until(t, "failures", func() bool { return failed.Load() > before })
			}
			if err := srv.Restart(); err != nil {
				t.Fatal(err)
			}
		}
		before := ok.Load()
		until(t, "load", func() bool { return ok.Load() > before+500 })
		stop()
		counter, err := srv.Client(t).Get(ctx, "counter").Int64()
		if err != nil {
			t.Fatal(err)
		}
		if lo, hi := ok.Load(), ok.Load()+uncertain.Load(); counter < lo || counter > hi {
			t.Errorf("counter %d, want %d to %d (ok to ok + uncertain)", counter, lo, hi)
		}
		s := ap.Stats()
		if s.Outcomes["ok"] != uint64(ok.Load()) || s.Outcomes["uncertain"] != uint64(uncertain.Load()) ||
			s.Outcomes["transport_error"]+s.Outcomes["server_error"] != uint64(failed.Load()) {
			t.Errorf("counted %d ok, %d uncertain, %d failed; %v", ok.Load(), uncertain.Load(), failed.Load(), s)
		}
	}
}
