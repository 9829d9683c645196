package autopipe_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// Blocking commands wait on connections of their own: a thousand GETs finish while all of them still wait (redis-rs
// 453, radix 344).
func TestState_BlockingBesideGets(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := hookedOn(t, srv, func(o *redis.Options) { o.PoolSize = 40 })
	rdb.XGroupCreateMkStream(bg, "xg1", "g", "$")
	rdb.XGroupCreateMkStream(bg, "xg2", "g", "$")
	do := func(args ...any) func() error { return func() error { return rdb.Do(bg, args...).Err() } }
	push := func(key string) []string { return []string{"RPUSH", key, "v"} }
	zadd := func(key string) []string { return []string{"ZADD", key, "1", "v"} }
	xadd := func(key string) []string { return []string{"XADD", key, "*", "f", "v"} }
	const ms = 20000 // longer than the test: they end because of their release
	cases := []struct {
		name    string
		call    func() error
		release []string
	}{
		{"BLPop", func() error { return rdb.BLPop(bg, 20*time.Second, "l1").Err() }, push("l1")},
		{"raw blpop", do("blpop", "l2", 20), push("l2")},
		{"raw BRPOP", do("BRPOP", "l3", 20), push("l3")},
		{"name as bytes", do([]byte("BlPop"), "l4", 20), push("l4")},
		{"BLMove", func() error { return rdb.BLMove(bg, "l5", "d", "left", "left", 20*time.Second).Err() }, push("l5")},
		{"BLMPop", func() error { return rdb.BLMPop(bg, 20*time.Second, "left", 1, "l6").Err() }, push("l6")},
		//lint:ignore SA1019 programs still use it
		{"BRPopLPush", func() error { return rdb.BRPopLPush(bg, "l7", "d", 20*time.Second).Err() }, push("l7")},
		{"BZPopMin", func() error { return rdb.BZPopMin(bg, 20*time.Second, "z1").Err() }, zadd("z1")},
		{"BZMPop", func() error { return rdb.BZMPop(bg, 20*time.Second, "min", 1, "z2").Err() }, zadd("z2")},
		{"XRead Block", func() error {
			return rdb.XRead(bg, &redis.XReadArgs{Streams: []string{"x1", "$"}, Block: 20 * time.Second}).Err()
		}, xadd("x1")},
		{"xread BLOCK as bytes", do("xread", []byte("BLOCK"), ms, "streams", "x2", "$"), xadd("x2")},
		{"XREAD after COUNT", do("XREAD", "COUNT", 1, "Block", ms, "STREAMS", "x3", "$"), xadd("x3")},
		{"stream named block", do("xread", "block", ms, "streams", "block", "$"), xadd("block")},
		{"consumer named streams", do("xreadgroup", "group", "g", "streams", "block", ms, "streams", "xg1", ">"), xadd("xg1")},
		{"XReadGroup Block", func() error {
			return rdb.XReadGroup(bg, &redis.XReadGroupArgs{Group: "g", Consumer: "streams", Streams: []string{"xg2", ">"}, Block: 20 * time.Second}).Err()
		}, xadd("xg2")},
		{"WAIT", do("wait", 1, ms), nil},
	}
	direct := ap.Stats().Direct
	var wg sync.WaitGroup
	for _, c := range cases {
		wg.Go(func() {
			if err := c.call(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		})
	}
	all := strconv.Itoa(len(cases))
	blocked := func() bool { return serverInfo(t, srv, "clients", "blocked_clients") == all }
	until(t, all+" clients wait", blocked)

	rdb.Set(bg, "k", "v", 0)
	many(50, func(int) {
		for range 20 {
			if v, err := rdb.Get(bg, "k").Result(); v != "v" || err != nil {
				t.Errorf("GET: %q, %v", v, err)
			}
		}
	})
	if !blocked() {
		t.Error("the GETs were not done before the blocking commands ended")
	}
	for _, c := range cases {
		if c.release != nil {
			serverDo(t, srv, c.release...)
		}
	}
	for line := range strings.Lines(serverDo(t, srv, "CLIENT", "LIST").(string)) {
		if strings.Contains(line, " cmd=wait ") {
			id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " ")
			serverDo(t, srv, "CLIENT", "UNBLOCK", id)
		}
	}
	wg.Wait()
	mustShare(t, ap)
	after := ap.Stats().Direct
	if b := after["blocking"] + after["connection"] - direct["blocking"] - direct["connection"]; b != uint64(len(cases)) {
		t.Errorf("%d of %d went direct: %v", b, len(cases), ap.Stats())
	}
}

// XREAD without BLOCK is a read like any other and is batched, whatever its streams and consumers are called; with
// BLOCK it never is. MIGRATE holds the whole server, so that here it fails at once.
func TestState_XReadBatchedUnlessItBlocks(t *testing.T) {
	srv := redistest.Run(t)
	const callers = 32
	for _, c := range []struct {
		name string
		args []any
		want string // direct reason; "" is batched
	}{
		{"plain", []any{"xread", "streams", "block", "0"}, ""},
		{"upper", []any{"XREAD", "COUNT", 1, "STREAMS", "block", "0"}, ""},
		{"as bytes", []any{[]byte("xread"), []byte("count"), []byte("1"), []byte("streams"), []byte("block"), []byte("0")}, ""},
		{"streams after streams", []any{"xread", "streams", "streams", "block", "0", "0"}, ""},
		{"group", []any{"xreadgroup", "group", "g", "block", "count", 1, "streams", "block", "0"}, ""},
		{"group block", []any{"xreadgroup", "GROUP", "block", "streams", "NOACK", "STREAMS", "block", "0"}, ""},
		{"block", []any{"xread", "block", 1, "streams", "block", "0"}, "blocking"},
		{"block as bytes", []any{"xread", "count", "1", []byte("BloCk"), 1, "streams", "block", "0"}, "blocking"},
		{"group blocks", []any{"xreadgroup", "group", "g", "streams", "block", 1, "streams", "block", "0"}, "blocking"},
		{"migrate", []any{"migrate", "127.0.0.1", srv.Port(), "no such key", 0, 10}, "admin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := newRecorder()
			rdb, ap := hookedOn(t, srv, nil)
			rdb.AddHook(rec)
			rdb.XAdd(bg, &redis.XAddArgs{Stream: "block", ID: "1-1", Values: []any{"f", "v"}})
			rdb.XGroupCreate(bg, "block", "g", "0")
			rdb.XGroupCreate(bg, "block", "block", "0")
			before := ap.Stats()
			name := redis.NewCmd(bg, c.args...).Name()
			sent, piped := uint64(0), 0
			for round := 0; round == 0 || c.want == "" && piped == 0 && round < 100; round++ { // until callers overlap
				many(callers, func(int) {
					for range 4 {
						if v, err := rdb.Do(bg, c.args...).Result(); err != nil || v == nil {
							t.Errorf("%v, %v", v, err)
						}
					}
				})
				sent += 4 * callers
				_, piped = rec.counts(name)
			}
			s := ap.Stats()
			if c.want == "" && (piped == 0 || s.Commands-before.Commands != sent) {
				t.Errorf("%d in pipelines: %v", piped, s)
			}
			if c.want != "" && (piped != 0 || s.Direct[c.want]-before.Direct[c.want] != sent) {
				t.Errorf("%d in pipelines: %v", piped, s)
			}
		})
	}
}
