package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// isoNetError reports whether err says, in go-redis's own words, that the connection broke.
func isoNetError(err error) bool {
	var ne net.Error
	return errors.Is(err, io.EOF) || errors.As(err, &ne)
}

// lost makes one call whose reply the proxy loses after the server has run it, alone or amid others.
func (r *isoRig) lost(ctx context.Context, batched bool, match string, call func()) {
	r.t.Helper()
	r.plain.Ping(ctx)
	r.rdb.Ping(ctx) // connect first, so that the cut meets the command and not the set-up
	rule := r.proxy.CutAfterRequest(match)
	r.amid(ctx, batched, true, call)
	if rule.Fired() != 1 {
		r.t.Errorf("the connection was cut %d times at %q, want 1", rule.Fired(), match)
	}
	r.proxy.Clear()
}

// TestRetry_IncrCutAfterRun: the reply is lost after the server ran a write that must not run twice. It is not sent
// again, and its caller learns that it may have run. Plain go-redis runs it twice.
func TestRetry_IncrCutAfterRun(t *testing.T) {
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t)
		key := r.key("counter")
		r.lost(ctx, batched, "incr "+key, func() {
			err := r.rdb.Incr(ctx, key).Err()
			var u *autopipe.UncertainError
			if !errors.As(err, &u) || u.Command != "incr" || !isoNetError(u.Err) || !isoNetError(err) {
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
	r := isoNew(t)
	rdb := r.srv.Client(t, isoOptions, func(o *redis.Options) { o.Addr = r.proxy.Addr() })
	rdb.Ping(ctx)
	r.proxy.CutAfterRequest("incr " + r.key("counter"))
	if n, err := rdb.Incr(ctx, r.key("counter")).Result(); n != 2 || err != nil {
		t.Errorf("plain go-redis: %d, %v; expected 2 without an error", n, err)
	}
}

// TestRetry_WritesCutAfterRun: the same for other commands that count, append, or answer differently the second time.
func TestRetry_WritesCutAfterRun(t *testing.T) {
	r := isoNew(t)
	ctx := context.Background()
	script := "return redis.call('RPUSH', KEYS[1], 'x')"
	for name, f := range map[string]func(k string) redis.Cmder{
		"append":      func(k string) redis.Cmder { return r.rdb.Append(ctx, k, "x") },
		"rpush":       func(k string) redis.Cmder { return r.rdb.RPush(ctx, k, "x") },
		"setnx":       func(k string) redis.Cmder { return r.rdb.Do(ctx, "setnx", k, "x") },
		"set nx":      func(k string) redis.Cmder { return r.rdb.SetNX(ctx, k, "x", 0) },
		"set":         func(k string) redis.Cmder { return r.rdb.SetArgs(ctx, k, "x", redis.SetArgs{Get: true}) },
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
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t)
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
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t)
		key := r.key("counter")
		r.plain.Set(ctx, r.key("k"), "v", 0)
		r.rdb.Ping(ctx)
		r.proxy.CutBeforeRequest("incr " + key)
		incr := func() {
			if err := r.rdb.Incr(ctx, key).Err(); !isoUncertain(err) {
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
		r := isoNew(t)
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
				if i >= 3 && !isoUncertain(err) {
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

var isoRefusals = map[string]string{
	"loading":     "LOADING Redis is loading the dataset in memory",
	"readonly":    "READONLY You can't write against a read only replica.",
	"masterdown":  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
	"clusterdown": "CLUSTERDOWN The cluster is down",
	"tryagain":    "TRYAGAIN Multiple keys request during rehashing of slot",
	"noreplicas":  "NOREPLICAS Not enough good replicas to write.",
	"maxclients":  "ERR max number of clients reached",
}

// TestRetry_RefusedByServer: a command that the server says it did not run is sent again, it alone, wherever it stands.
func TestRetry_RefusedByServer(t *testing.T) {
	for cause, text := range isoRefusals {
		isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
			positions := []int{0}
			if batched {
				positions = []int{0, 2, 4}
			}
			r := isoNew(t, autopipe.WithRetryBackoff(100*time.Microsecond, time.Millisecond))
			for _, at := range positions {
				var calls []func()
				var sent [5]atomic.Int32
				keys := [5]string{}
				for i := range keys {
					keys[i] = r.key(fmt.Sprintf("%s%d-%d", cause, at, i))
					calls = append(calls, func() {
						if n, err := r.rdb.Incr(ctx, keys[i]).Result(); n != 1 || err != nil {
							t.Errorf("%s at %d: INCR %d gave %d, %v; want 1", cause, at, i, n, err)
						}
					})
				}
				r.proxy.OnRequest(func(args []string) {
					for i, k := range keys {
						if len(args) > 1 && args[1] == k {
							sent[i].Add(1)
						}
					}
				})
				before := r.ap.Stats().Retries[cause]
				r.proxy.FakeReply("incr "+keys[at], "-"+text+"\r\n", 2)
				if batched {
					r.together(calls...)
				} else {
					calls[0]()
				}
				for i := range keys {
					want := int32(1)
					if i == at {
						want = 3
					} else if !batched {
						want = 0
					}
					if n := sent[i].Load(); n != want {
						t.Errorf("%s at %d: command %d was sent %d times, want %d", cause, at, i, n, want)
					}
				}
				if n := r.ap.Stats().Retries[cause] - before; n != 2 {
					t.Errorf("%s at %d: %d retries counted, want 2", cause, at, n)
				}
			}
		})
	}
}

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
		isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
			r := isoNew(t, c.opts...)
			key := r.key("k")
			r.rdb.Ping(ctx)
			rule := r.proxy.FakeReply("incr "+key, "-LOADING now\r\n", 0)
			r.amid(ctx, batched, false, func() {
				if err := r.rdb.Incr(ctx, key).Err(); !redis.IsLoadingError(err) || isoUncertain(err) {
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
				if err := r.rdb.Get(ctx, key).Err(); !isoNetError(err) || isoUncertain(err) {
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

// TestRetry_ScriptRefusal: such a text from a script may be its own, after it did part of its work.
func TestRetry_ScriptRefusal(t *testing.T) {
	r := isoNew(t)
	ctx := context.Background()
	const body = "redis.call('INCR', KEYS[1]); return {err='%s'}"
	for cause, text := range isoRefusals {
		src := fmt.Sprintf(body, strings.ReplaceAll(text, "'", "\\'"))
		sha := r.plain.ScriptLoad(ctx, src).Val()
		for name, run := range map[string]func(key string) error{
			"eval":    func(key string) error { return r.rdb.Eval(ctx, src, []string{key}).Err() },
			"evalsha": func(key string) error { return r.rdb.EvalSha(ctx, sha, []string{key}).Err() },
			"do":      func(key string) error { return r.rdb.Do(ctx, "EVAL", src, 1, key).Err() },
		} {
			for _, batched := range []bool{false, true} {
				key := r.key(fmt.Sprint(cause, name, batched))
				r.amid(ctx, batched, false, func() {
					if err := run(key); err == nil || !strings.HasPrefix(err.Error(), text[:7]) {
						t.Errorf("%s of a script that returns %s: %v", name, cause, err)
					}
				})
				if n := r.count(key); n != 1 {
					t.Errorf("%s of a script that returns %s ran %d times, want 1", name, cause, n)
				}
			}
		}
	}
}

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
				r := isoNew(t, autopipe.WithLinger(50*time.Millisecond), autopipe.WithRetryBackoff(0, 0))
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
						if n, err := r.rdb.Incr(ctx, k).Result(); !isoUncertain(err) {
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
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t)
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
	r := isoNew(t, autopipe.WithMaxQueue(1), pause)
	key := r.key("k")
	r.rdb.Ping(ctx)
	r.proxy.CutAfterRequest("set " + key)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := r.rdb.Set(ctx, key, "v", 0).Err(); err != nil {
			t.Errorf("SET, its first reply lost, the queue full when it was sent again: %v", err)
		}
	})
	isoUntil(t, "the retry", func() bool { return r.ap.Stats().Retries["transport"] == 1 })
	held, release := r.inner.hold()
	wg.Go(func() { r.rdb.Echo(ctx, isoHeld) })
	<-held
	wg.Go(func() {
		if err := r.rdb.Get(ctx, key).Err(); err != nil {
			t.Errorf("the GET that fills the queue: %v", err)
		}
	})
	isoUntil(t, "a full queue", func() bool { return r.ap.Stats().Queued == 1 })
	if err := r.rdb.Get(ctx, key).Err(); !errors.Is(err, autopipe.ErrQueueFull) {
		t.Errorf("a new command: %v, want ErrQueueFull", err)
	}
	isoUntil(t, "the retry to queue or to fail", func() bool {
		s := r.ap.Stats()
		return s.Queued == 2 || s.Outcomes["rejected"] == 2
	})
	release()
	wg.Wait()
}

// TestRetry_LikeGoRedis: go-redis's own behaviour, replays of whole batches included.
func TestRetry_LikeGoRedis(t *testing.T) {
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t, autopipe.WithRetry(autopipe.RetryLikeGoRedis))
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
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t, autopipe.WithRetry(autopipe.RetryNone))
		n := r.key("n")
		r.rdb.Ping(ctx)
		incr := func() {
			if err := r.rdb.Incr(ctx, n).Err(); !isoUncertain(err) {
				t.Errorf("INCR: %v, want an UncertainError", err)
			}
		}
		get := func() {
			if err := r.rdb.Get(ctx, r.key("k")).Err(); !isoNetError(err) || isoUncertain(err) {
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

// TestRetry_DirectCutAfterRun: what does not queue has the same promise: a write runs once, and its caller knows.
func TestRetry_DirectCutAfterRun(t *testing.T) {
	ctx := context.Background()
	big := strings.Repeat("x", 4<<10)
	list := func(r *isoRig, key string) int64 { return r.plain.LLen(ctx, key).Val() }
	for _, c := range []struct {
		reason string
		call   func(r *isoRig, key string) error
		runs   func(r *isoRig, key string) int64
	}{
		{"large", func(r *isoRig, key string) error { return r.rdb.RPush(ctx, key, big).Err() }, list},
		{"excluded", func(r *isoRig, key string) error { return r.rdb.LPush(ctx, key, "x").Err() }, list},
		{"unknown", func(r *isoRig, key string) error {
			return r.rdb.Process(ctx, redis.NewFloatCmd(ctx, "rpush", key, "x"))
		}, list},
		{"blocking", func(r *isoRig, key string) error {
			r.plain.RPush(ctx, key, 1, 2, 3)
			return r.rdb.BLPop(ctx, time.Second, key).Err()
		}, func(r *isoRig, key string) int64 { return 3 - list(r, key) }},
	} {
		t.Run(c.reason, func(t *testing.T) {
			r := isoNew(t, autopipe.WithMaxBatchBytes(1<<10), autopipe.WithDirect("lpush"))
			key := r.key("list")
			var err error
			r.lost(ctx, false, key, func() { err = c.call(r, key) })
			if n := c.runs(r, key); n != 1 {
				t.Errorf("ran %d times, want 1", n)
			}
			if !isoUncertain(err) {
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

// The rest of this file is about connections that cannot be had.

// isoOnePool gives pipelines no connections of their own, so that a test knows which ones there are.
func isoOnePool(o *redis.Options) { o.PipelinePoolSize = -1 }

// isoDialer counts dials, and fails as many of them as it is told to, with an error of its own kind.
type isoDialer struct {
	dials, failures atomic.Int64
	err             error
}

func (d *isoDialer) tune(o *redis.Options) {
	isoOnePool(o)
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		d.dials.Add(1)
		if d.failures.Add(-1) >= 0 {
			return nil, d.err
		}
		var nd net.Dialer
		return nd.DialContext(ctx, network, addr)
	}
}

// isoBackoffs is an observer that notes the pauses before retries, by attempt.
type isoBackoffs struct {
	mu     sync.Mutex
	pauses map[int][]time.Duration
}

func (o *isoBackoffs) Attach(telemetry.Pipe) telemetry.Events {
	o.pauses = map[int][]time.Duration{}
	return telemetry.Events{Retry: func(_ context.Context, r *telemetry.Retry) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.pauses[r.Attempt-1] = append(o.pauses[r.Attempt-1], r.Backoff)
	}}
}

// TestRetry_DialRefused: nothing was sent, so every command is sent again, whatever the dialer's error looks like.
func TestRetry_DialRefused(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for name, cause := range map[string]error{"refused": refused, "custom": errors.New("no ticket"), "eof": io.EOF} {
		isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
			d := &isoDialer{err: cause}
			r := isoNewOn(t, redistest.Shared(t), d.tune, autopipe.WithRetryBackoff(100*time.Microsecond, time.Millisecond))
			key := r.key(name)
			incr := func() {
				if n, err := r.rdb.Incr(ctx, key).Result(); n < 1 || n > 3 || err != nil {
					t.Errorf("%s: %d, %v; want success", name, n, err)
				}
			}
			if batched {
				// The held ECHO takes the one connection there is, and closes it; the batch has to dial.
				r.inner.onSend(func([]string) func() { return nil })
				r.together(func() { d.failures.Store(2); r.proxy.CutAll(); incr() }, incr, incr)
				if n := r.count(key); n != 3 {
					t.Errorf("%s: counter %d, want 3", name, n)
				}
				return
			}
			d.failures.Store(2)
			incr()
			if n := d.dials.Load(); n != 3 {
				t.Errorf("%s: %d dials, want 3", name, n)
			}
			if n := r.ap.Stats().Retries["dial"]; n != 2 {
				t.Errorf("%s: %d retries for dial, want 2", name, n)
			}
			if n := r.count(key); n != 1 {
				t.Errorf("%s: counter %d, want 1", name, n)
			}
		})
	}
}

// TestRetry_DialRefusedLimit: up to the limit, with go-redis's backoff: at random below a bound that doubles. The caller
// then gets the dialer's own error, for a write too: it is certain that it did not run.
func TestRetry_DialRefusedLimit(t *testing.T) {
	const least, greatest, limit = 2 * time.Millisecond, 9 * time.Millisecond, 5
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		d, obs := &isoDialer{err: errors.New("no ticket")}, &isoBackoffs{}
		r := isoNewOn(t, redistest.Shared(t), d.tune, autopipe.WithObserver(obs),
			autopipe.WithMaxRetries(limit), autopipe.WithRetryBackoff(least, greatest))
		incr := func() {
			if err := r.rdb.Incr(ctx, r.key("n")).Err(); !errors.Is(err, d.err) || isoUncertain(err) {
				t.Errorf("error %v, want %v", err, d.err)
			}
		}
		callers := 1
		if batched {
			callers = 3
			r.inner.onSend(func([]string) func() { d.failures.Store(1 << 30); r.proxy.CutAll(); return nil })
			r.together(incr, incr, incr)
		} else {
			d.failures.Store(1 << 30)
			incr()
			if n := d.dials.Load(); n != limit+1 {
				t.Errorf("%d dials, want %d", n, limit+1)
			}
		}
		obs.mu.Lock()
		defer obs.mu.Unlock()
		for attempt := 1; attempt <= limit; attempt++ {
			bound := min(least+least<<attempt, greatest)
			if n := len(obs.pauses[attempt]); n != callers {
				t.Errorf("retry %d: %d pauses, want %d", attempt, n, callers)
			}
			for _, p := range obs.pauses[attempt] {
				if p < least || p > bound {
					t.Errorf("retry %d: a pause of %v, want %v to %v", attempt, p, least, bound)
				}
			}
		}
		if n := len(obs.pauses); n != limit {
			t.Errorf("%d retries, want %d", n, limit)
		}
	})
}

// TestRetry_ContextEndsBackoff: a caller need not sit out the pause before a retry.
func TestRetry_ContextEndsBackoff(t *testing.T) {
	d := &isoDialer{err: errors.New("no ticket")}
	r := isoNewOn(t, redistest.Shared(t), d.tune, autopipe.WithRetryBackoff(time.Minute, time.Minute))
	d.failures.Store(1 << 30)
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan error)
	go func() { got <- r.rdb.Incr(ctx, r.key("n")).Err() }()
	isoUntil(t, "the first retry", func() bool { return r.ap.Stats().Retries["dial"] == 1 })
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestRetry_PoolTimeout: no connection came free in time, so nothing was sent, and every command is sent again.
func TestRetry_PoolTimeout(t *testing.T) {
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		const limit = 2
		for _, frees := range []bool{true, false} {
			retries := map[bool]int{true: 100, false: limit}[frees]
			r := isoNewOn(t, redistest.Shared(t), func(o *redis.Options) {
				o.PoolSize, o.PipelinePoolSize, o.PoolTimeout = 1, -1, 5*time.Millisecond
			}, autopipe.WithMaxRetries(retries), autopipe.WithRetryBackoff(time.Millisecond, 2*time.Millisecond))
			n, list := r.key(fmt.Sprint("n", frees)), r.key(fmt.Sprint("list", frees))
			incr := func() {
				switch _, err := r.rdb.Incr(ctx, n).Result(); {
				case frees && err != nil:
					t.Errorf("INCR: %v, want success", err)
				case !frees && (!errors.Is(err, redis.ErrPoolTimeout) || isoUncertain(err)):
					t.Errorf("INCR: %v, want ErrPoolTimeout", err)
				}
			}
			hold := func() (end func()) { // takes the only connection
				done := make(chan struct{})
				go func() {
					defer close(done)
					_ = r.rdb.BLPop(context.Background(), 0, list).Err()
				}()
				isoUntil(t, "BLPOP to block", func() bool {
					info, err := r.srv.Info("clients")
					return err == nil && info["blocked_clients"] == "1"
				})
				return func() { r.plain.RPush(context.Background(), list, 1); <-done }
			}
			calls := 1
			var end func()
			run := incr
			if batched {
				calls = 3
				r.inner.onSend(func(names []string) func() {
					if names[0] == "incr" && end == nil {
						end = hold()
					}
					return nil
				})
				run = func() { r.together(incr, incr, incr) }
			} else {
				end = hold()
			}
			var wg sync.WaitGroup
			wg.Go(run)
			if frees {
				isoUntil(t, "two rounds of retries", func() bool { return r.ap.Stats().Retries["pool"] >= uint64(2*calls) })
				end()
			}
			wg.Wait()
			if !frees {
				end()
				if got := r.ap.Stats().Retries["pool"]; got != uint64(limit*calls) {
					t.Errorf("%d retries for the pool, want %d", got, limit*calls)
				}
			}
			if want := map[bool]int{true: calls, false: 0}[frees]; r.count(n) != want {
				t.Errorf("the counter is %d, want %d", r.count(n), want)
			}
		}
	})
}

// TestRetry_SetUpFails: the server takes the connection and closes it before go-redis has set it up, as one that starts
// or is full does behind a proxy. The user's command was not sent either.
func TestRetry_SetUpFails(t *testing.T) {
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNewOn(t, redistest.Shared(t), isoOnePool,
			autopipe.WithMaxRetries(100), autopipe.WithRetryBackoff(time.Millisecond, 2*time.Millisecond))
		n := r.key("n")
		fail := func() { r.proxy.DropNew(true); r.proxy.CutAll() }
		incr := func() {
			if err := r.rdb.Incr(ctx, n).Err(); err != nil {
				t.Errorf("INCR: %v, want success", err)
			}
		}
		want, run := 1, incr
		if batched {
			want = 3
			var once sync.Once
			r.inner.onSend(func([]string) func() { once.Do(fail); return nil })
			run = func() { r.together(incr, incr, incr) }
		} else {
			fail()
		}
		var wg sync.WaitGroup
		wg.Go(run)
		conns := r.proxy.Conns()
		isoUntil(t, "two more connections", func() bool {
			s := r.ap.Stats()
			return r.proxy.Conns() >= conns+2 || s.Outcomes["uncertain"] > 0
		})
		r.proxy.DropNew(false)
		wg.Wait()
		if got := r.count(n); got != want {
			t.Errorf("the counter is %d, want %d", got, want)
		}
	})
}

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
		rdb := srv.Client(t, isoOptions)
		ap := autopipe.New()
		rdb.AddHook(ap)
		var ok, uncertain, failed atomic.Int64
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				for !isoClosed(stop) {
					switch err := rdb.Incr(ctx, "counter").Err(); {
					case err == nil:
						ok.Add(1)
					case isoUncertain(err):
						uncertain.Add(1)
					default:
						failed.Add(1)
					}
				}
			})
		}
		for round := range 2 {
			before := ok.Load()
			isoUntil(t, "load", func() bool { return ok.Load() > before+500 })
			if err := srv.Kill(); err != nil {
				t.Fatal(err)
			}
			if round == 1 { // long enough for callers to reach their limit
				before := failed.Load()
				isoUntil(t, "failures", func() bool { return failed.Load() > before })
			}
			if err := srv.Restart(); err != nil {
				t.Fatal(err)
			}
		}
		before := ok.Load()
		isoUntil(t, "load", func() bool { return ok.Load() > before+500 })
		close(stop)
		wg.Wait()
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
