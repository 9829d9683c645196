package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// A Conn, a Tx and a transaction keep to their own connection while pooled commands share theirs.
func TestState_ConnTxStayOnTheirConnection(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := hookedOn(t, srv, nil)
	rdb.Set(bg, "where", "DB 0", 0)
	stop := company(32, func(int) {
		if v, err := rdb.Get(bg, "where").Result(); v != "DB 0" || err != nil {
			t.Errorf("pooled GET: %q, %v", v, err)
		}
	})
	defer stop()

	many(8, func(i int) { // go-redis 3267
		for range 10 {
			conn := rdb.EphemeralConn() // a Conn would hand DB 5 back to the pool, with us or without
			id := conn.ClientID(bg).Val()
			if err := conn.Select(bg, 5).Err(); err != nil {
				t.Error(err)
			}
			key := fmt.Sprint("conn", i)
			conn.Set(bg, key, i, 0)
			if v, err := conn.Get(bg, key).Int(); v != i || err != nil {
				t.Errorf("Conn in DB 5: %d, %v", v, err)
			}
			if v, err := conn.Get(bg, "where").Result(); !errors.Is(err, redis.Nil) {
				t.Errorf("Conn in DB 5 reads %q, %v", v, err)
			}
			if again := conn.ClientID(bg).Val(); again != id {
				t.Errorf("Conn changed its connection: %d, %d", id, again)
			}
			_ = conn.Close()
		}
	})

	const workers, each = 8, 10
	var lost atomic.Int64
	many(workers, func(int) { // optimistic locking is exact only if WATCH, GET and EXEC share a connection
		for n := 0; n < each; {
			err := rdb.Watch(bg, func(tx *redis.Tx) error {
				v, err := tx.Get(bg, "watched").Int()
				if err != nil && !errors.Is(err, redis.Nil) {
					return err
				}
				_, err = tx.TxPipelined(bg, func(p redis.Pipeliner) error {
					p.Set(bg, "watched", v+1, 0)
					return nil
				})
				return err
			}, "watched")
			switch {
			case errors.Is(err, redis.TxFailedErr):
				lost.Add(1)
			case err != nil:
				t.Error(err)
				return
			default:
				n++
			}
		}
	})
	if v := rdb.Get(bg, "watched").Val(); v != strconv.Itoa(workers*each) {
		t.Errorf("%d transactions moved the counter to %s", workers*each, v)
	}
	if lost.Load() == 0 {
		t.Log("no transaction met another: WATCH was not put to the test")
	}

	many(8, func(i int) {
		key := fmt.Sprint("tx", i)
		for range 10 {
			var a, b *redis.IntCmd
			_, err := rdb.TxPipelined(bg, func(p redis.Pipeliner) error {
				a, b = p.Incr(bg, key), p.Incr(bg, key)
				return nil
			})
			if err != nil || b.Val() != a.Val()+1 {
				t.Errorf("TxPipelined: %d, %d, %v", a.Val(), b.Val(), err)
			}
		}
	})
	stop()
	mustShare(t, ap)
}

// A caller that leaves a Conn in the middle of a command leaves a reply behind. Neither the Conn's next command nor,
// after Close, the pool's may read it.
func TestState_ConnLeftInFlight(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := hookedOn(t, srv, func(o *redis.Options) { o.PoolSize = 1 })
	for i := range 8 {
		conn := rdb.Conn()
		conn.Ping(bg)
		serverDo(t, srv, "CLIENT", "PAUSE", "30")
		ctx, cancel := context.WithTimeout(bg, time.Millisecond)
		// A plain client waits for the reply, an autopiped one may return at the end of the context.
		if v, err := conn.Echo(ctx, "late").Result(); err == nil && v != "late" || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("ECHO under CLIENT PAUSE: %q, %v", v, err)
		}
		cancel()
		if i%2 == 0 {
			if v, err := conn.Echo(bg, "next").Result(); v != "next" || err != nil {
				t.Fatalf("the Conn's next command: %q, %v", v, err)
			}
		}
		_ = conn.Close()
		if v, err := rdb.Echo(bg, "pooled").Result(); v != "pooled" || err != nil {
			t.Fatalf("the pool's next command: %q, %v", v, err)
		}
	}
	atRest(t, ap)
}
