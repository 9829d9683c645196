package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// The connection breaks while a command is on its way.

// TestRetry_IncrCutAfterRun: the reply is lost after the server ran a write that must not run twice. It is not sent
// again, and its caller learns that it may have run. Plain go-redis runs it twice.
func TestRetry_IncrCutAfterRun(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t)
		key := r.key("counter")
		r.lost(ctx, batched, "incr "+key, func() {
			err := r.rdb.Incr(ctx, key).Err()
			var u *autopipe.UncertainError
			if !errors.As(err, &u) || u.Command != "incr" || !isNetError(u.Err) || !isNetError(err) {
				t.Errorf("error %#v, want an UncertainError for incr around a network error", err)
			}
		})
		if n := r.count(key); n != 1 {
			t.Errorf("the counter moved to %d, want 1", n)
		}
		r.works()
	})
}

// TestRetry_PlainRunsTwice shows what RetrySafe is for, and that the tests' fault is one.
func TestRetry_PlainRunsTwice(t *testing.T) {
	ctx := context.Background()
	r := newRig(t)
	rdb := r.srv.Client(t, failFast, func(o *redis.Options) { o.Addr = r.proxy.Addr() })
	rdb.Ping(ctx)
	r.proxy.CutAfterRequest("incr " + r.key("counter"))
	if n, err := rdb.Incr(ctx, r.key("counter")).Result(); n != 2 || err != nil {
		t.Errorf("plain go-redis: %d, %v; expected 2 without an error", n, err)
	}
}

// TestRetry_WritesCutAfterRun: the same for other commands that count, append, or answer differently the second time.
func TestRetry_WritesCutAfterRun(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	script := "return redis.call('RPUSH', KEYS[1], 'x')"
	for name, f := range map[string]func(k string) redis.Cmder{
		"append": func(k string) redis.Cmder { return r.rdb.Append(ctx, k, "x") },
		"rpush":  func(k string) redis.Cmder { return r.rdb.RPush(ctx, k, "x") },
		"setnx":  func(k string) redis.Cmder { return r.rdb.Do(ctx, "setnx", k, "x") },
		"set nx": func(k string) redis.Cmder { return r.rdb.SetNX(ctx, k, "x", 0) },
		"set":    func(k string) redis.Cmder { return r.rdb.SetArgs(ctx, k, "x", redis.SetArgs{Get: true}) },
		//lint:ignore SA1019 programs still use it
		"getset":      func(k string) redis.Cmder { return r.rdb.GetSet(ctx, k, "x") },
		"getdel":      func(k string) redis.Cmder { return r.rdb.GetDel(ctx, k) },
		"del":         func(k string) redis.Cmder { return r.rdb.Del(ctx, k) },
		"hincrby":     func(k string) redis.Cmder { return r.rdb.HIncrBy(ctx, k, "f", 1) },
		"hset":        func(k string) redis.Cmder { return r.rdb.HSet(ctx, k, "f", 1) },
		"incrbyfloat": func(k string) redis.Cmder { return r.rdb.IncrByFloat(ctx, k, 1) },
		"sadd":        func(k string) redis.Cmder { return r.rdb.SAdd(ctx, k, "x") },
		"zincrby":     func(k string) redis.Cmder { return r.rdb.ZIncrBy(ctx, k, 1, "x") },
		"xadd":        func(k string) redis.Cmder { return r.rdb.XAdd(ctx, &redis.XAddArgs{Stream: k, Values: []any{"a", 1}}) },
		"eval":        func(k string) redis.Cmder { return r.rdb.Eval(ctx, script, []string{k}) },
		"incr":        func(k string) redis.Cmder { return r.rdb.Do(ctx, "INCR", k) },
		"lpop":        func(k string) redis.Cmder { return r.rdb.LPop(ctx, k) },
		"publish":     func(k string) redis.Cmder { return r.rdb.Publish(ctx, k, "m") },
		"bitfield":    func(k string) redis.Cmder { return r.rdb.BitField(ctx, k, "INCRBY", "u8", 0, 1) },
		"sinterstore": func(k string) redis.Cmder { return r.rdb.SInterStore(ctx, k, k, k) },
		"expire":      func(k string) redis.Cmder { return r.rdb.ExpireNX(ctx, k, time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			name, _, _ := strings.Cut(name, " ")
			key := r.key("k")
			var requests atomic.Int32
			r.proxy.OnRequest(func(args []string) {
				if strings.EqualFold(args[0], name) && strings.Contains(strings.Join(args, " "), key) {
					requests.Add(1)
				}
			})
			defer r.proxy.OnRequest(nil)
			r.lost(ctx, false, key, func() {
				var u *autopipe.UncertainError
				if err := f(key).Err(); !errors.As(err, &u) || u.Command != name {
					t.Errorf("error %v, want an UncertainError for %s", err, name)
				}
			})
			if n := requests.Load(); n != 1 {
				t.Errorf("sent %d times, want 1", n)
			}
		})
	}
}

// TestRetry_GetCutAfterRun: what may run twice is sent again on a new connection, and succeeds.
func TestRetry_GetCutAfterRun(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t)
		key, m := r.key("k"), r.key("m")
		r.plain.Set(ctx, key, "v", 0)
		r.lost(ctx, batched, "get "+key, func() {
			if v, err := r.rdb.Get(ctx, key).Result(); v != "v" || err != nil {
				t.Errorf("GET: %q, %v; want v", v, err)
			}
		})
		r.lost(ctx, batched, "set "+key, func() {
			if v, err := r.rdb.Set(ctx, key, "w", time.Hour).Result(); v != "OK" || err != nil {
				t.Errorf("SET: %q, %v; want OK", v, err)
			}
		})
		r.lost(ctx, batched, "hmset "+m, func() {
			if v, err := r.rdb.HMSet(ctx, m, "a", 1).Result(); !v || err != nil {
				t.Errorf("HMSET: %v, %v; want true", v, err)
			}
		})
		r.lost(ctx, batched, "hgetall "+m, func() {
			if v, err := r.rdb.HGetAll(ctx, m).Result(); v["a"] != "1" || err != nil {
				t.Errorf("HGETALL: %v, %v; want a:1", v, err)
			}
		})
		r.lost(ctx, batched, "get "+r.key("none"), func() {
			if err := r.rdb.Get(ctx, r.key("none")).Err(); err != redis.Nil {
				t.Errorf("GET of nothing: %v, want redis.Nil", err)
			}
		})
		if n := r.ap.Stats().Retries["transport"]; n < 5 {
			t.Errorf("%d retries counted, want 5 or more", n)
		}
	})
}

// TestRetry_CutBeforeRun: the connection dies before the server has seen anything. The client cannot know that.
func TestRetry_CutBeforeRun(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t)
		key := r.key("counter")
		r.plain.Set(ctx, r.key("k"), "v", 0)
		r.rdb.Ping(ctx)
		r.proxy.CutBeforeRequest("incr " + key)
		incr := func() {
			if err := r.rdb.Incr(ctx, key).Err(); !isUncertain(err) {
				t.Errorf("INCR: %v, want an UncertainError", err)
			}
		}
		if batched {
			get := func() {
				if v, err := r.rdb.Get(ctx, r.key("k")).Result(); v != "v" || err != nil {
					t.Errorf("GET: %q, %v; want v", v, err)
				}
			}
			r.together(get, incr, get)
		} else {
			incr()
		}
		if n := r.count(key); n != 0 {
			t.Errorf("the counter moved to %d, want 0", n)
		}
	})
}

// TestRetry_CutAmidReplies: the commands whose replies had come keep them, those behind are judged one by one.
func TestRetry_CutAmidReplies(t *testing.T) {
	for _, endless := range []bool{true, false} {
		ctx, cancel := context.Background(), context.CancelFunc(func() {})
		if !endless {
			ctx, cancel = context.WithCancel(ctx)
		}
		defer cancel()
		r := newRig(t)
		r.rdb.Ping(ctx)
		r.plain.Set(ctx, r.key("text"), "v", 0)
		rule := r.proxy.CutAfterReplies("incr "+r.key("0"), 3)
		var calls []func()
		for i := range 6 {
			key := r.key(fmt.Sprint(i))
			r.plain.Del(ctx, key)
			calls = append(calls, func() {
				if i == 1 { // an error reply counts as one
					if err := r.rdb.Incr(ctx, r.key("text")).Err(); !redis.HasErrorPrefix(err, "value is not an integer") {
						t.Errorf("INCR of a text: %v", err)
					}
					return
				}
				n, err := r.rdb.Incr(ctx, key).Result()
				if i < 3 && (n != 1 || err != nil) {
					t.Errorf("number %d, whose reply had come: %d, %v; want 1", i, n, err)
				}
				if i >= 3 && !isUncertain(err) {
					t.Errorf("number %d, whose reply was lost: %d, %v; want an UncertainError", i, n, err)
				}
				if r.count(key) != 1 {
					t.Errorf("counter %d is %d, want 1", i, r.count(key))
				}
			})
		}
		r.together(calls...)
		if rule.Fired() != 1 {
			t.Errorf("cut %d times, want 1", rule.Fired())
		}
	}
}

// TestRetry_DirectCutAfterRun: what does not queue has the same promise: a write runs once, and its caller knows.
func TestRetry_DirectCutAfterRun(t *testing.T) {
	ctx := context.Background()
	big := strings.Repeat("x", 4<<10)
	list := func(r *rig, key string) int64 { return r.plain.LLen(ctx, key).Val() }
	for _, c := range []struct {
		reason string
		call   func(r *rig, key string) error
		runs   func(r *rig, key string) int64
	}{
		{"large", func(r *rig, key string) error { return r.rdb.RPush(ctx, key, big).Err() }, list},
		{"excluded", func(r *rig, key string) error { return r.rdb.LPush(ctx, key, "x").Err() }, list},
		{"unknown", func(r *rig, key string) error {
			return r.rdb.Process(ctx, redis.NewFloatCmd(ctx, "rpush", key, "x"))
		}, list},
		{"blocking", func(r *rig, key string) error {
			r.plain.RPush(ctx, key, 1, 2, 3)
			return r.rdb.BLPop(ctx, time.Second, key).Err()
		}, func(r *rig, key string) int64 { return 3 - list(r, key) }},
	} {
		t.Run(c.reason, func(t *testing.T) {
			r := newRig(t, autopipe.WithMaxBatchBytes(1<<10), autopipe.WithDirect("lpush"))
			key := r.key("list")
			var err error
			r.lost(ctx, false, key, func() { err = c.call(r, key) })
			if n := c.runs(r, key); n != 1 {
				t.Errorf("ran %d times, want 1", n)
			}
			if !isUncertain(err) {
				t.Errorf("error %v, want an UncertainError", err)
			}
			if n := r.ap.Stats().Direct[c.reason]; n != 1 {
				t.Errorf("%d direct commands for %q, want 1: %v", n, c.reason, r.ap.Stats())
			}
		})
	}
}

// TestUncertainError: the text says what happened, and the cause is within reach.
func TestUncertainError(t *testing.T) {
	err := error(&autopipe.UncertainError{Command: "incr", Err: io.EOF})
	if want := "autopipe: reply lost, INCR may or may not have run: EOF"; err.Error() != want {
		t.Errorf("text %q, want %q", err, want)
	}
	if !errors.Is(err, io.EOF) || !errors.Is(fmt.Errorf("my service: %w", err), io.EOF) {
		t.Error("the cause is out of reach")
	}
	op := &net.OpError{Op: "read", Err: errors.New("reset")}
	var ne net.Error
	if !errors.As(error(&autopipe.UncertainError{Command: "set", Err: op}), &ne) || ne != op {
		t.Error("the network's error is out of reach")
	}
}
