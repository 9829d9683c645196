package autopipe_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// TestRetry_Limit: at the limit the caller gets the server's last word, or the last failure of the connection.
func TestRetry_Limit(t *testing.T) {
	quick := autopipe.WithRetryBackoff(100*time.Microsecond, time.Millisecond)
	for name, c := range map[string]struct {
		opts []autopipe.Option
		want int
	}{
		"default": {[]autopipe.Option{quick}, 4},
		"none":    {[]autopipe.Option{quick, autopipe.WithRetry(autopipe.RetryNone)}, 1},
		"zero":    {[]autopipe.Option{quick, autopipe.WithMaxRetries(0)}, 1},
		"seven":   {[]autopipe.Option{quick, autopipe.WithMaxRetries(7)}, 8},
	} {
		everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
			r := newRig(t, c.opts...)
			key := r.key("k")
			r.rdb.Ping(ctx)
			rule := r.proxy.FakeReply("incr "+key, "-LOADING now\r\n", 0)
			r.amid(ctx, batched, false, func() {
				if err := r.rdb.Incr(ctx, key).Err(); !redis.IsLoadingError(err) || isUncertain(err) {
					t.Errorf("%s: error %v, want LOADING", name, err)
				}
			})
			if rule.Fired() != c.want {
				t.Errorf("%s: sent %d times, want %d", name, rule.Fired(), c.want)
			}
			r.proxy.Clear()
			var sent atomic.Int32
			r.proxy.OnRequest(func(args []string) {
				if len(args) == 2 && args[1] == key {
					sent.Add(1)
					r.proxy.CutAll()
				}
			})
			get := func() {
				if err := r.rdb.Get(ctx, key).Err(); !isNetError(err) || isUncertain(err) {
					t.Errorf("%s: GET without a connection: %v, want the network's error", name, err)
				}
			}
			retries := func() (n int) { // a cut may also meet the set-up of the next connection
				for _, v := range r.ap.Stats().Retries {
					n += int(v)
				}
				return n
			}
			before, callers := retries(), 1
			if batched {
				callers = 3
				r.together(get, get, get)
			} else {
				get()
				if n := int(sent.Load()); n != c.want {
					t.Errorf("%s: GET was sent %d times, want %d", name, n, c.want)
				}
			}
			if n := retries() - before; n != callers*(c.want-1) {
				t.Errorf("%s: %d retries of %d GETs, want %d each", name, n, callers, c.want-1)
			}
		})
	}
}

// TestRetry_LikeGoRedis: go-redis's own behaviour, replays of whole batches included.
func TestRetry_LikeGoRedis(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t, autopipe.WithRetry(autopipe.RetryLikeGoRedis))
		a, b := r.key("a"), r.key("b")
		r.rdb.Ping(ctx)
		incr := func(key string, want int64) func() {
			return func() {
				if n, err := r.rdb.Incr(ctx, key).Result(); n != want || err != nil {
					t.Errorf("INCR: %d, %v; want %d, as plain go-redis", n, err, want)
				}
			}
		}
		r.proxy.CutAfterRequest("incr " + a)
		if batched {
			r.together(incr(b, 2), incr(a, 2))
		} else {
			incr(a, 2)()
		}
		r.proxy.FakeReply("incr "+a, "-LOADING now\r\n", 1)
		if batched { // refused as the first of its batch, it takes the others along
			r.together(incr(a, 3), incr(b, 4))
		} else {
			incr(a, 3)()
		}
	})
}

// TestRetry_None: nothing is sent twice, not even a read; a write is still told apart.
func TestRetry_None(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t, autopipe.WithRetry(autopipe.RetryNone))
		n := r.key("n")
		r.rdb.Ping(ctx)
		incr := func() {
			if err := r.rdb.Incr(ctx, n).Err(); !isUncertain(err) {
				t.Errorf("INCR: %v, want an UncertainError", err)
			}
		}
		get := func() {
			if err := r.rdb.Get(ctx, r.key("k")).Err(); !isNetError(err) || isUncertain(err) {
				t.Errorf("GET: %v, want the network's error", err)
			}
		}
		if batched {
			r.proxy.CutAfterRequest("incr " + n)
			r.together(get, incr, get)
		} else {
			r.proxy.CutAfterRequest("incr " + n)
			incr()
			r.rdb.Ping(ctx)
			r.proxy.CutAfterRequest("get " + r.key("k"))
			get()
		}
		if got := r.count(n); got != 1 {
			t.Errorf("the counter moved to %d, want 1", got)
		}
		for cause, n := range r.ap.Stats().Retries {
			if n != 0 {
				t.Errorf("%d retries for %s", n, cause)
			}
		}
	})
}
