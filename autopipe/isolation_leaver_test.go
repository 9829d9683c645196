package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// TestIsolation_EndedContextShiftsNoReply: callers leave in the middle of a batch, again and again; whoever stays, and
// whoever comes after, gets the value of his own key.
func TestIsolation_EndedContextShiftsNoReply(t *testing.T) {
	const keys, readers = 200, 200
	total := 30_000
	if os.Getenv("AUTOPIPE_STRESS") != "" {
		total = 100_000
	}
	r := newRig(t, autopipe.WithMaxInFlight(4))
	ctx := context.Background()
	for i := range keys {
		r.plain.Set(ctx, r.key(fmt.Sprint(i)), i, 0)
	}
	stop := make(chan struct{})
	var leavers, wg sync.WaitGroup
	var left atomic.Int64
	for i := range 4 {
		leavers.Go(func() {
			for n := i; n < 3000 && !isClosed(stop); n++ {
				c, cancel := context.WithTimeout(ctx, time.Duration(n%20)*50*time.Microsecond)
				if v, err := r.rdb.Get(c, r.key(fmt.Sprint(n%keys))).Result(); err == nil && v != fmt.Sprint(n%keys) {
					t.Errorf("a caller that might have left: got %q, want %d", v, n%keys)
				} else if err != nil {
					left.Add(1)
				}
				cancel()
			}
		})
	}
	for i := range readers {
		wg.Go(func() {
			for n := range total / readers {
				k := fmt.Sprint((n*7 + i) % keys)
				if v, err := r.rdb.Get(ctx, r.key(k)).Result(); v != k || err != nil {
					t.Errorf("GET %s: %q, %v", k, v, err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	leavers.Wait()
	if left.Load() == 0 {
		t.Error("nobody left")
	}
}

// TestIsolation_ConnOfOneWhoLeft: a Conn or Tx is its caller's, who closes it when his call has returned. Nothing of
// ours may use it from then on (go-redis's own pool does not stand that: -race tells).
func TestIsolation_ConnOfOneWhoLeft(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	r.plain.Set(ctx, r.key("k"), "v", 0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 150 {
				c, cancel := context.WithTimeout(ctx, time.Duration(i%30)*20*time.Microsecond)
				conn := r.rdb.Conn()
				_ = conn.Get(c, r.key("k")).Err()
				_ = conn.Close()
				_ = r.rdb.Watch(c, func(tx *redis.Tx) error { return tx.Get(c, r.key("k")).Err() }, r.key("k"))
				cancel()
			}
		})
	}
	wg.Wait()
}

// TestIsolation_LeaverReusesItsBuffer: a caller who has left may use the memory of its arguments again, even while hooks
// behind autopipe still look at the command.
func TestIsolation_LeaverReusesItsBuffer(t *testing.T) {
	r := newRig(t)
	key := r.key("k")
	for _, batched := range []bool{false, true} {
		sent, left := make(chan struct{}), make(chan struct{})
		var text string
		r.inner.answer(func(cmds []redis.Cmder) error {
			close(sent)
			<-left
			text = fmt.Sprint(cmds[0].String(), cmds[0].Args())
			return errMarshal
		})
		ctx, cancel := context.WithCancel(context.Background())
		call := func() {
			buf := []byte("first")
			if err := r.rdb.Set(ctx, key, buf, 0).Err(); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want context.Canceled", err)
			}
			copy(buf, "other")
			close(left)
		}
		go func() { <-sent; cancel() }()
		if batched {
			r.together(call, func() { _ = r.rdb.Get(context.Background(), key).Err() })
		} else {
			call()
		}
		until(t, "the lane to be at rest", func() bool { return r.ap.Stats().InFlight == 0 })
		if strings.Contains(text, "other") {
			t.Errorf("the hook saw %q: what its caller wrote after it left", text)
		}
	}
}
