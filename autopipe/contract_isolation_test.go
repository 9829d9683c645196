package autopipe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
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

// isoMarshal is an argument whose encoding is user code.
type isoMarshal func() ([]byte, error)

func (m isoMarshal) MarshalBinary() ([]byte, error) { return m() }

var errIsoMarshal = errors.New("this marshaller fails")

// TestIsolation_UnencodableArgument: only the call with such an argument fails, with the words of go-redis.
func TestIsolation_UnencodableArgument(t *testing.T) {
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t)
		for _, arg := range []any{struct{}{}, map[string]int{}, []string{"a"}, make(chan int), complex(1, 2), func() {}} {
			want := r.plain.Set(ctx, r.key("k"), arg, 0).Err()
			if want == nil {
				t.Fatalf("plain go-redis takes %T", arg)
			}
			r.amid(ctx, batched, false, func() {
				if err := r.rdb.Set(ctx, r.key("k"), arg, 0).Err(); err == nil || err.Error() != want.Error() {
					t.Errorf("SET of a %T: error %v, want %v", arg, err, want)
				}
			})
		}
	})
}

// TestIsolation_MarshalError: a failing MarshalBinary fails its own call, with its own error.
func TestIsolation_MarshalError(t *testing.T) {
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t)
		arg := isoMarshal(func() ([]byte, error) { return nil, errIsoMarshal })
		r.amid(ctx, batched, false, func() {
			if err := r.rdb.Set(ctx, r.key("k"), arg, 0).Err(); !errors.Is(err, errIsoMarshal) {
				t.Errorf("error %v, want %v", err, errIsoMarshal)
			}
		})
	})
}

// TestIsolation_MarshalErrorIsCounted: it is a command that returned, as one with an argument that has no encoding is.
func TestIsolation_MarshalErrorIsCounted(t *testing.T) {
	r := isoNew(t)
	for _, arg := range []any{isoMarshal(func() ([]byte, error) { return nil, errIsoMarshal }), struct{}{}} {
		before := r.ap.Stats()
		_ = r.rdb.Set(context.Background(), r.key("k"), arg, 0).Err()
		after := r.ap.Stats()
		if after.Direct["encoder"] != before.Direct["encoder"]+1 || after.Outcomes["transport_error"] != before.Outcomes["transport_error"]+1 {
			t.Errorf("SET of a %T: from %v to %v; want one more for encoder and for transport_error", arg, before, after)
		}
	}
}

// TestIsolation_MarshalOnce: an encoding that works goes out as it is, from its caller's goroutine, and is made once.
func TestIsolation_MarshalOnce(t *testing.T) {
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t)
		runs := 0 // not atomic: -race tells if another goroutine encodes
		arg := isoMarshal(func() ([]byte, error) { runs++; return []byte("encoded"), nil })
		r.amid(ctx, batched, false, func() {
			if err := r.rdb.Set(ctx, r.key("k"), arg, 0).Err(); err != nil {
				t.Error(err)
			}
		})
		if v := r.plain.Get(ctx, r.key("k")).Val(); v != "encoded" || runs != 1 {
			t.Errorf("stored %q after %d encodings, want %q after 1", v, runs, "encoded")
		}
	})
}

// isoEnd tells how a function ended: it returned, panicked with a value, or ended its goroutine.
func isoEnd(f func()) (end string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		end = "goexit"
		defer func() {
			if v := recover(); v != nil {
				end = fmt.Sprint("panic: ", v)
			}
		}()
		f()
		end = "returned"
	}()
	<-done
	return end
}

// TestIsolation_MarshalPanic: a panic in MarshalBinary, or its Goexit, is its own caller's alone.
func TestIsolation_MarshalPanic(t *testing.T) {
	for want, do := range map[string]func(){"panic: ouch": func() { panic("ouch") }, "goexit": runtime.Goexit} {
		isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
			r := isoNew(t)
			arg := isoMarshal(func() ([]byte, error) { do(); return nil, nil })
			r.amid(ctx, batched, false, func() {
				if end := isoEnd(func() { r.rdb.Set(ctx, r.key("k"), arg, 0) }); end != want {
					t.Errorf("the call ended with %q, want %q", end, want)
				}
			})
			r.works()
		})
	}
}

// works checks that the lane still does, both for a lone command and for a batch, and is at rest after it.
func (r *isoRig) works() {
	r.t.Helper()
	ctx := context.Background()
	r.inner.onSend(nil)
	r.inner.answer(nil)
	if err := r.rdb.Set(ctx, r.key("after"), "v", 0).Err(); err != nil {
		r.t.Errorf("a lone command afterwards: %v", err)
	}
	r.amid(ctx, true, false, func() {})
	isoUntil(r.t, "the lane to be at rest", func() bool {
		s := r.ap.Stats()
		return s.Queued == 0 && s.InFlight == 0
	})
}

// TestIsolation_InnerHookPanics: a panic in a hook behind autopipe reaches a caller, as it would without autopipe. The
// others of the batch get an error, or their reply if it had come already; none hangs and none gets an empty success.
func TestIsolation_InnerHookPanics(t *testing.T) {
	for want, do := range map[string]func(){"panic: ouch": func() { panic("ouch") }, "goexit": runtime.Goexit} {
		for _, after := range []bool{false, true} {
			for _, size := range []int{1, 5} {
				for _, endless := range []bool{true, false} {
					name := fmt.Sprintf("%s,after=%v,size=%d,endless=%v", want, after, size, endless)
					t.Run(name, func(t *testing.T) { isoInnerEnds(t, want, do, after, size, endless) })
				}
			}
		}
	}
}

func isoInnerEnds(t *testing.T, want string, do func(), after bool, size int, endless bool) {
	ctx := context.Background()
	if !endless {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
	}
	r := isoNew(t)
	r.plain.Set(ctx, r.key("k"), "v", 0)
	r.inner.onSend(func([]string) func() {
		if after {
			return do
		}
		do()
		return nil
	})
	var fatal atomic.Int32
	call := func() {
		var cmd *redis.StringCmd
		switch end := isoEnd(func() { cmd = r.rdb.Get(ctx, r.key("k")) }); {
		case end == want:
			fatal.Add(1)
		case end != "returned":
			t.Errorf("a call ended with %q, want %q", end, want)
		case after && (cmd.Val() != "v" || cmd.Err() != nil):
			t.Errorf("the reply had come, but the caller got %q, %v", cmd.Val(), cmd.Err())
		case !after && cmd.Err() == nil:
			t.Errorf("%q and no error from a command that was not sent", cmd.Val())
		}
	}
	if size == 1 {
		call()
	} else {
		r.together(call, call, call, call, call)
	}
	if n := fatal.Load(); n != 1 {
		t.Errorf("%d of %d callers saw the %s, want 1", n, size, want)
	}
	r.works()
}

// isoObserver is an observer made of functions.
type isoObserver telemetry.Events

func (o isoObserver) Attach(telemetry.Pipe) telemetry.Events { return telemetry.Events(o) }

// TestIsolation_ObserverPanics: the same for an observer's code. No caller may take an empty result for a reply.
func TestIsolation_ObserverPanics(t *testing.T) {
	var armed atomic.Bool
	boom := func() {
		if armed.Load() {
			panic("ouch")
		}
	}
	for name, ev := range map[string]telemetry.Events{
		"start": {BatchStart: func(ctx context.Context, b *telemetry.Batch) context.Context { boom(); return ctx }},
		"end":   {BatchEnd: func(context.Context, *telemetry.Batch) { boom() }},
	} {
		isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
			armed.Store(false)
			r := isoNew(t, autopipe.WithObserver(isoObserver(ev)))
			r.plain.Set(ctx, r.key("k"), "v", 0)
			call := func() {
				var cmd *redis.StringCmd
				if isoEnd(func() { cmd = r.rdb.Get(ctx, r.key("k")) }) == "returned" && cmd.Err() == nil && cmd.Val() != "v" {
					t.Errorf("%s: %q and no error", name, cmd.Val())
				}
			}
			if batched {
				r.inner.onSend(nil)
				held, release := r.inner.hold()
				var wg sync.WaitGroup
				wg.Go(func() { isoEnd(func() { r.rdb.Echo(ctx, isoHeld) }) })
				<-held
				for i := range 4 {
					wg.Go(call)
					isoUntil(t, "the call to queue", func() bool { return r.ap.Stats().Queued == i+1 })
				}
				armed.Store(true)
				release()
				wg.Wait()
			} else {
				armed.Store(true)
				call()
			}
			armed.Store(false)
			r.works()
		})
	}
}

// TestIsolation_WrongReplyType: a reply that its command cannot read spoils a connection, so such a pair travels alone.
func TestIsolation_WrongReplyType(t *testing.T) {
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t)
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
			want := isoClone(cmd)
			_ = r.plain.Process(ctx, want)
			r.amid(ctx, batched, false, func() {
				if err := r.rdb.Process(ctx, cmd); err == nil || err.Error() != want.Err().Error() {
					t.Errorf("%v as a %T: error %v, want %v", cmd.Args(), cmd, err, want.Err())
				}
			})
		}
	})
}

func isoClone(cmd redis.Cmder) redis.Cmder { return cmd.Clone() }

// TestIsolation_UnreadableReply: if the user lets such a pair into a batch (WithBatched), its reply still costs the
// others the connection, and no more than that: it fails by itself, reads behind it are sent again, writes are uncertain.
func TestIsolation_UnreadableReply(t *testing.T) {
	ctx := context.Background()
	r := isoNew(t, autopipe.WithBatched("get"))
	key, n := r.key("text"), r.key("n")
	r.plain.Set(ctx, key, "some text", 0)
	get := func() {
		if v, err := r.rdb.Get(ctx, key).Result(); v != "some text" || err != nil {
			t.Errorf("neighbour GET: %q, %v", v, err)
		}
	}
	r.together(get, func() {
		if err := r.rdb.Process(ctx, redis.NewIntCmd(ctx, "get", key)); err == nil || isoUncertain(err) {
			t.Errorf("GET of a text as a number: %v, want the parser's error", err)
		}
	}, get, func() {
		if v, err := r.rdb.Incr(ctx, n).Result(); !isoUncertain(err) {
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
			isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
				r := isoNew(t, autopipe.WithRetry(policy))
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
		r := isoNewOn(t, srv, func(o *redis.Options) { o.Username, o.Password = "limited", "pw" }, autopipe.WithRetry(policy))
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
	r := isoNewOn(t, redistest.Run(t), nil, autopipe.WithMaxInFlight(8))
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
	if isoMax(r.inner.takeSizes()) < 2 {
		t.Error("no batch was made")
	}
}

// TestIsolation_EndedContextShiftsNoReply: callers leave in the middle of a batch, again and again; whoever stays, and
// whoever comes after, gets the value of his own key.
func TestIsolation_EndedContextShiftsNoReply(t *testing.T) {
	const keys, readers = 200, 200
	total := 30_000
	if os.Getenv("AUTOPIPE_STRESS") != "" {
		total = 100_000
	}
	r := isoNew(t, autopipe.WithMaxInFlight(4))
	ctx := context.Background()
	for i := range keys {
		r.plain.Set(ctx, r.key(fmt.Sprint(i)), i, 0)
	}
	stop := make(chan struct{})
	var leavers, wg sync.WaitGroup
	var left atomic.Int64
	for i := range 4 {
		leavers.Go(func() {
			for n := i; n < 3000 && !isoClosed(stop); n++ {
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
	r := isoNew(t)
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
	r := isoNew(t)
	key := r.key("k")
	for _, batched := range []bool{false, true} {
		sent, left := make(chan struct{}), make(chan struct{})
		var text string
		r.inner.answer(func(cmds []redis.Cmder) error {
			close(sent)
			<-left
			text = fmt.Sprint(cmds[0].String(), cmds[0].Args())
			return errIsoMarshal
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
		isoUntil(t, "the lane to be at rest", func() bool { return r.ap.Stats().InFlight == 0 })
		if strings.Contains(text, "other") {
			t.Errorf("the hook saw %q: what its caller wrote after it left", text)
		}
	}
}

// TestIsolation_NoRetryCommands: commands that must not be retried work beside others and leave their retries alone.
func TestIsolation_NoRetryCommands(t *testing.T) {
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := isoNew(t)
		key := r.key("k")
		r.plain.Set(ctx, key, "the value", 0)
		r.amid(ctx, batched, false, func() {
			buf := make([]byte, 64)
			if cmd := r.rdb.GetToBuffer(ctx, key, buf); cmd.Err() != nil || string(cmd.Bytes()) != "the value" {
				t.Errorf("GetToBuffer: %q, %v", cmd.Bytes(), cmd.Err())
			}
			if cmd := r.rdb.GetToBuffer(ctx, key, make([]byte, 2)); cmd.Err() == nil {
				t.Error("GetToBuffer into two bytes: no error")
			}
			var w bytes.Buffer
			if err := r.rdb.Process(ctx, redis.NewRawWriteToCmd(ctx, &w, "get", key)); err != nil || w.String() != "$9\r\nthe value\r\n" {
				t.Errorf("RawWriteTo: %q, %v", w.String(), err)
			}
			if err := r.rdb.Process(ctx, redis.NewRawWriteToCmd(ctx, isoBadWriter{}, "get", key)); err == nil {
				t.Error("RawWriteTo to a failing writer: no error")
			}
		})
		// The neighbours' retries: the first GET's reply is lost together with that of all others, and all are read again.
		rule := r.proxy.CutAfterRequest("get " + r.key("hit"))
		r.amid(ctx, true, true, func() {
			if cmd := r.rdb.GetToBuffer(ctx, key, make([]byte, 64)); cmd.Err() != nil {
				t.Errorf("GetToBuffer: %v", cmd.Err())
			}
		})
		if rule.Fired() != 1 {
			t.Errorf("the connection was cut %d times, want 1", rule.Fired())
		}
	})
}

type isoBadWriter struct{}

func (isoBadWriter) Write([]byte) (int, error) { return 0, errors.New("this writer fails") }

// TestIsolation_LimiterRefuses: who is refused by Options.Limiter was certainly not sent, so nobody is uncertain.
func TestIsolation_LimiterRefuses(t *testing.T) {
	refused := errors.New("limiter says no")
	isoWays(t, func(t *testing.T, ctx context.Context, batched bool) {
		lim := &isoLimiter{err: refused}
		r := isoNewOn(t, redistest.Shared(t), func(o *redis.Options) { o.Limiter = lim })
		call := func() {
			if err := r.rdb.Incr(ctx, r.key("n")).Err(); err != refused { //nolint:errorlint // the very error, as from go-redis
				t.Errorf("error %v, want %v", err, refused)
			}
		}
		if !batched {
			lim.on.Store(true)
			call()
			return
		}
		r.inner.onSend(func([]string) func() { lim.on.Store(true); return nil })
		r.together(call, call, call)
	})
}

type isoLimiter struct {
	on  atomic.Bool
	err error
}

func (l *isoLimiter) Allow() error {
	if l.on.Load() {
		return l.err
	}
	return nil
}
func (l *isoLimiter) ReportResult(error) {}

// TestIsolation_InnerHookAnswers: a hook behind autopipe that answers a batch by itself, as a cache does, is believed.
func TestIsolation_InnerHookAnswers(t *testing.T) {
	r := isoNew(t)
	ctx := context.Background()
	r.inner.answer(func(cmds []redis.Cmder) error {
		for i, cmd := range cmds {
			if i == 1 {
				cmd.SetErr(redis.Nil)
			} else if s, ok := autopipe.Unwrap(cmd).(*redis.StringCmd); ok {
				s.SetVal("from the hook")
			}
		}
		return nil
	})
	hit := func() {
		if v, err := r.rdb.Get(ctx, "k").Result(); v != "from the hook" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
	}
	miss := func() {
		if err := r.rdb.Get(ctx, "k").Err(); err != redis.Nil {
			t.Errorf("error %v, want redis.Nil", err)
		}
	}
	r.together(hit, miss, hit)
	r.inner.answer(func([]redis.Cmder) error { return errIsoMarshal })
	fail := func() {
		if err := r.rdb.Get(ctx, "k").Err(); !errors.Is(err, errIsoMarshal) {
			t.Errorf("error %v, want the hook's", err)
		}
	}
	r.together(fail, fail)
	fail()
}
