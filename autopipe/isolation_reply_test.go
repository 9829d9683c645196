package autopipe_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestIsolation_WrongReplyType: a reply that its command cannot read spoils a connection, so such a pair travels alone.
func TestIsolation_WrongReplyType(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t)
		key := r.key("text")
		r.plain.Set(ctx, key, "some text", 0)
		r.plain.HSet(ctx, r.key("h"), "f", "v")
		for _, cmd := range []redis.Cmder{
			redis.NewIntCmd(ctx, "get", key),
			redis.NewFloatCmd(ctx, "get", key),
			redis.NewSliceCmd(ctx, "get", key),
			redis.NewMapStringStringCmd(ctx, "get", key),
			redis.NewStatusCmd(ctx, "hgetall", r.key("h")),
			redis.NewIntCmd(ctx, "getrange", key, 0, 2),
		} {
			want := cmd.Clone()
			_ = r.plain.Process(ctx, want)
			r.amid(ctx, batched, false, func() {
				if err := r.rdb.Process(ctx, cmd); err == nil || err.Error() != want.Err().Error() {
					t.Errorf("%v as a %T: error %v, want %v", cmd.Args(), cmd, err, want.Err())
				}
			})
		}
	})
}

// TestIsolation_UnreadableReply: if the user lets such a pair into a batch (WithBatched), its reply still costs the
// others the connection, and no more than that: it fails by itself, reads behind it are sent again, writes are uncertain.
func TestIsolation_UnreadableReply(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, autopipe.WithBatched("get"))
	key, n := r.key("text"), r.key("n")
	r.plain.Set(ctx, key, "some text", 0)
	get := func() {
		if v, err := r.rdb.Get(ctx, key).Result(); v != "some text" || err != nil {
			t.Errorf("neighbour GET: %q, %v", v, err)
		}
	}
	r.together(get, func() {
		if err := r.rdb.Process(ctx, redis.NewIntCmd(ctx, "get", key)); err == nil || isUncertain(err) {
			t.Errorf("GET of a text as a number: %v, want the parser's error", err)
		}
	}, get, func() {
		if v, err := r.rdb.Incr(ctx, n).Result(); !isUncertain(err) {
			t.Errorf("INCR behind it: %d, %v; want an UncertainError", v, err)
		}
	}, get)
	if got := r.count(n); got != 1 {
		t.Errorf("the counter is %d, want 1", got)
	}
}

// TestIsolation_MissAmongHits: exactly the misses return redis.Nil.
func TestIsolation_MissAmongHits(t *testing.T) {
	for _, policy := range []autopipe.RetryPolicy{autopipe.RetrySafe, autopipe.RetryNone, autopipe.RetryLikeGoRedis} {
		t.Run(policy.String(), func(t *testing.T) {
			everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
				r := newRig(t, autopipe.WithRetry(policy))
				miss := func() {
					if v, err := r.rdb.Get(ctx, r.key("none")).Result(); v != "" || err != redis.Nil {
						t.Errorf("miss: %q, %v; want redis.Nil", v, err)
					}
				}
				r.amid(ctx, batched, false, miss)
				if !batched {
					return
				}
				r.plain.Set(ctx, r.key("k"), "v", 0)
				hit := func() {
					if v, err := r.rdb.Get(ctx, r.key("k")).Result(); v != "v" || err != nil {
						t.Errorf("hit: %q, %v; want v", v, err)
					}
				}
				r.together(miss, hit, hit, miss, hit) // first of its batch, where go-redis returns its error for all
			})
		})
	}
}

// TestIsolation_ServerErrors: an error reply is its own command's, wherever that stands in the batch.
func TestIsolation_ServerErrors(t *testing.T) {
	srv := redistest.Run(t)
	admin := srv.Client(t)
	ctx := context.Background()
	if err := admin.ACLSetUser(ctx, "limited", "on", ">pw", "~*", "&*", "+@all", "-lpush").Err(); err != nil {
		t.Fatal(err)
	}
	deny := redis.NewScript("return redis.error_reply('NOTMINE of the script')")
	for _, policy := range []autopipe.RetryPolicy{autopipe.RetrySafe, autopipe.RetryLikeGoRedis} {
		r := newRigOn(t, srv, func(o *redis.Options) { o.Username, o.Password = "limited", "pw" }, autopipe.WithRetry(policy))
		r.plain.Set(ctx, "text", "v", 0)
		r.proxy.FakeReply("append oom", "-OOM command not allowed when used memory > 'maxmemory'.\r\n", 0)
		for prefix, call := range map[string]func() error{
			"WRONGTYPE": func() error { return r.rdb.SAdd(ctx, "text", "x").Err() },
			"ERR value": func() error { return r.rdb.Incr(ctx, "text").Err() },
			"OOM":       func() error { return r.rdb.Append(ctx, "oom", "x").Err() },
			"NOSCRIPT":  func() error { return r.rdb.EvalSha(ctx, strings.Repeat("0", 40), nil).Err() },
			"NOPERM":    func() error { return r.rdb.LPush(ctx, "list", "x").Err() },
			"NOTMINE":   func() error { return deny.Eval(ctx, r.rdb, nil).Err() },
		} {
			t.Run(policy.String()+"/"+prefix, func(t *testing.T) {
				r.t = t
				check := func() {
					if err := call(); err == nil || !redis.HasErrorPrefix(err, strings.TrimPrefix(prefix, "ERR ")) {
						t.Errorf("error %v, want %s", err, prefix)
					}
				}
				ok := func() {
					if v, err := r.rdb.Get(ctx, "text").Result(); v != "v" || err != nil {
						t.Errorf("neighbour: %q, %v; want v", v, err)
					}
				}
				check()
				r.together(check, ok, ok)
				r.together(ok, check, ok)
				r.together(ok, ok, check)
			})
		}
	}
}

// TestIsolation_ScriptFallsBackToEval: Script.Run loads the script again for whoever meets NOSCRIPT, and for nobody else.
func TestIsolation_ScriptFallsBackToEval(t *testing.T) {
	const callers = 500
	ctx := context.Background()
	r := newRigOn(t, redistest.Run(t), nil, autopipe.WithMaxInFlight(8))
	script := redis.NewScript("return redis.call('INCRBY', KEYS[1], ARGV[1])")
	for round := range 3 {
		if err := r.plain.ScriptFlush(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				key := fmt.Sprintf("script:%d", i)
				if v, err := script.Run(ctx, r.rdb, []string{key}, 1).Int(); v != round+1 || err != nil {
					t.Errorf("caller %d: %d, %v; want %d", i, v, err, round+1)
				}
			})
		}
		wg.Wait()
	}
	if largest(r.inner.takeSizes()) < 2 {
		t.Error("no batch was made")
	}
}
