package autopipe_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// TestWindow_OrderWhenSentAgain: two windows that travel in one batch are both refused, and a third waits behind them.
// They keep their order, whichever pause is longer.
func TestWindow_OrderWhenSentAgain(t *testing.T) {
	for _, wait := range []bool{true, false} {
		t.Run(fmt.Sprint("waited for at once=", wait), func(t *testing.T) {
			r := newRig(t, autopipe.WithMaxBatch(2), autopipe.WithRetryBackoff(time.Microsecond, 3*time.Millisecond))
			r.rdb.Ping(bg)
			for i := range 30 {
				key := r.key(fmt.Sprint("list", i))
				r.proxy.FakeReply("rpush "+key+" a", "-TRYAGAIN later\r\n", 1)
				r.proxy.FakeReply("rpush "+key+" b", "-TRYAGAIN later\r\n", 1)
				held, release := r.inner.hold()
				go r.rdb.Echo(bg, heldEcho)
				<-held
				w := autopipe.NewWindow(r.rdb)
				var all []*autopipe.Pending
				for _, v := range []string{"a", "b", "c", "d"} {
					w.RPush(bg, key, v)
					all = append(all, w.Submit(bg))
				}
				var wg sync.WaitGroup
				if wait {
					for _, p := range all {
						wg.Go(func() { _ = p.Wait(bg) })
					}
				}
				release()
				for _, p := range all {
					if err := p.Wait(bg); err != nil {
						t.Error(err)
					}
				}
				wg.Wait()
				if got := r.plain.LRange(bg, key, 0, -1).Val(); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
					t.Fatalf("run %d: list %v", i, got)
				}
				r.proxy.Clear()
			}
			atRest(t, r.ap)
		})
	}
}

// TestWindow_OrderUnderCuts: connections break all the time under windows of many goroutines. Every acknowledged write is
// there once, an uncertain one at most once, one that failed (its connection could not be set up, four times) not at all,
// and all are in the order in which they were submitted. Cuts follow what is done, so that a slow machine gets no more of
// them than a fast one.
func TestWindow_OrderUnderCuts(t *testing.T) {
	r := newRig(t, autopipe.WithMaxInFlight(4))
	const goroutines, rounds, ahead, size = 16, 40, 4, 5
	stop := company(8, func(int) { r.rdb.Get(bg, r.key("noise")) })
	var done, cuts atomic.Int64
	cutAt := int64(0) // the one goroutine of cutting
	cutting := company(1, func(int) {
		time.Sleep(time.Millisecond)
		if n := done.Load(); n >= cutAt+2*goroutines {
			for range 4 { // the later ones meet connections that are being set up, so that whole windows are sent again
				r.proxy.CutAll()
				cuts.Add(1)
				time.Sleep(time.Millisecond)
			}
			cutAt = n
		}
	})
	defer stop()
	defer cutting()
	var uncertain, acked sync.Map
	many(goroutines, func(g int) {
		key := r.key(fmt.Sprint("list", g))
		w := autopipe.NewWindow(r.rdb)
		n, ok, lost := 0, map[string]bool{}, map[string]bool{}
		for range rounds {
			var all []*autopipe.Pending
			for range ahead {
				for range size {
					w.RPush(bg, key, n)
					w.Get(bg, key+"-none")
					n++
				}
				all = append(all, w.Submit(bg))
			}
			for i, p := range all {
				if i%2 == 0 { // the others are waited for when they may be done
					time.Sleep(time.Millisecond)
				}
				_ = p.Wait(bg)
				done.Add(1)
				for _, c := range p.Cmds() {
					push, is := c.(*redis.IntCmd)
					switch {
					case !is:
						if c.Err() != redis.Nil && !isNetError(c.Err()) {
							t.Errorf("GET: %v", c.Err())
						}
					case push.Err() == nil:
						ok[fmt.Sprint(push.Args()[2])] = true
					case isUncertain(push.Err()):
						lost[fmt.Sprint(push.Args()[2])] = true
					case !isNetError(push.Err()): // those are in neither set, so they must not be in the list
						t.Errorf("RPUSH: %v", push.Err())
					}
				}
			}
		}
		acked.Store(key, ok)
		uncertain.Store(key, lost)
	})
	stop()
	cutting()
	atRest(t, r.ap)
	total := 0
	acked.Range(func(key, ok any) bool {
		lost, _ := uncertain.Load(key)
		total += len(lost.(map[string]bool))
		last, seen := -1, map[string]bool{}
		for _, v := range r.plain.LRange(bg, key.(string), 0, -1).Val() {
			n, err := strconv.Atoi(v)
			if err != nil || n <= last {
				t.Errorf("%s: %s after %d", key, v, last)
			}
			if !ok.(map[string]bool)[v] && !lost.(map[string]bool)[v] {
				t.Errorf("%s: %s is there and was neither acknowledged nor uncertain", key, v)
			}
			last, seen[v] = n, true
		}
		for v := range ok.(map[string]bool) {
			if !seen[v] {
				t.Errorf("%s: %s was acknowledged and is not there", key, v)
			}
		}
		return true
	})
	t.Logf("%d cuts, %d writes uncertain", cuts.Load(), total)
	if total == 0 {
		t.Error("no write was uncertain: the connections did not break under them")
	}
}
