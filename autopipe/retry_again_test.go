package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// What a command that is sent a second time may and may not carry over from the first.

// TestRetry_EachSendingIsJudgedAfresh: the error of an earlier sending must not decide about a later one. First the
// server refuses both INCRs, or no connection can be made; then they run and their replies are lost.
func TestRetry_EachSendingIsJudgedAfresh(t *testing.T) {
	for _, first := range []string{"refused by the server", "no connection"} {
		for _, endless := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s,endless=%v", first, endless), func(t *testing.T) {
				ctx, cancel := context.Background(), context.CancelFunc(func() {})
				if !endless {
					ctx, cancel = context.WithCancel(ctx)
				}
				defer cancel()
				// The linger brings the retries together again: alone they travel by another path.
				r := newRig(t, autopipe.WithLinger(50*time.Millisecond), autopipe.WithRetryBackoff(0, 0))
				a, b := r.key("a"), r.key("b")
				if first == "no connection" {
					if err := r.proxy.Refuse(true); err != nil {
						t.Fatal(err)
					}
				} else {
					r.rdb.Ping(ctx)
					r.inner.takeSizes()
					r.proxy.FakeReply("incr "+a, "-LOADING now\r\n", 1)
					r.proxy.FakeReply("incr "+b, "-LOADING now\r\n", 1)
				}
				sends := 0
				r.inner.onSend(func(names []string) func() {
					sends++
					return func() {
						if sends == 1 && len(names) == 2 {
							_ = r.proxy.Refuse(false)
							r.proxy.CutAfterRequest("incr " + b)
						}
					}
				})
				var wg sync.WaitGroup
				for _, k := range []string{a, b} {
					wg.Go(func() {
						if n, err := r.rdb.Incr(ctx, k).Result(); !isUncertain(err) {
							t.Errorf("INCR: %d, %v; want an UncertainError", n, err)
						}
					})
				}
				wg.Wait()
				if r.count(a) != 1 || r.count(b) != 1 {
					t.Errorf("the counters moved to %d and %d, want 1 and 1", r.count(a), r.count(b))
				}
				if sizes := r.inner.takeSizes(); fmt.Sprint(sizes) != "[2 2]" {
					t.Errorf("sends of %v commands, want [2 2]", sizes)
				}
			})
		}
	}
}

// TestRetry_CommandUsedAgain: the same for a command that its owner sends a second time, as plain go-redis allows.
func TestRetry_CommandUsedAgain(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t)
		key := r.key("k")
		cmd := redis.NewStringCmd(ctx, "get", key)
		if err := r.rdb.Process(ctx, cmd); err != redis.Nil {
			t.Fatalf("first use: %v, want redis.Nil", err)
		}
		r.plain.Set(ctx, key, "v", 0)
		r.lost(ctx, batched, "get "+key, func() {
			if err := r.rdb.Process(ctx, cmd); err != nil || cmd.Val() != "v" {
				t.Errorf("second use, first reply lost: %q, %v; want v", cmd.Val(), err)
			}
		})
	})
}

// TestRetry_KeepsItsPlace: a command that was accepted is not turned away when it comes again. ErrQueueFull says that
// a command was not sent, and this one was.
func TestRetry_KeepsItsPlace(t *testing.T) {
	ctx := context.Background()
	pause := autopipe.WithRetryBackoff(200*time.Millisecond, 200*time.Millisecond)
	r := newRig(t, autopipe.WithMaxQueue(1), pause)
	key := r.key("k")
	r.rdb.Ping(ctx)
	r.proxy.CutAfterRequest("set " + key)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := r.rdb.Set(ctx, key, "v", 0).Err(); err != nil {
			t.Errorf("SET, its first reply lost, the queue full when it was sent again: %v", err)
		}
	})
	until(t, "the retry", func() bool { return r.ap.Stats().Retries["transport"] == 1 })
	held, release := r.inner.hold()
	wg.Go(func() { r.rdb.Echo(ctx, heldEcho) })
	<-held
	wg.Go(func() {
		if err := r.rdb.Get(ctx, key).Err(); err != nil {
			t.Errorf("the GET that fills the queue: %v", err)
		}
	})
	until(t, "a full queue", func() bool { return r.ap.Stats().Queued == 1 })
	if err := r.rdb.Get(ctx, key).Err(); !errors.Is(err, autopipe.ErrQueueFull) {
		t.Errorf("a new command: %v, want ErrQueueFull", err)
	}
	until(t, "the retry to queue or to fail", func() bool {
		s := r.ap.Stats()
		return s.Queued == 2 || s.Outcomes["rejected"] == 2
	})
	release()
	wg.Wait()
}
