package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
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

// What go-redis sends to set a connection up runs inside the first command's own way through the hooks. Held back for a
// batch it would hang that command; and it is not the user's traffic, so no count may show it.
func TestState_SetupUntouchedAndUncounted(t *testing.T) {
	srv := redistest.Run(t, redistest.Args("--requirepass", "secret"))
	for name, opt := range map[string]func(*redis.Options){
		"plain":     func(o *redis.Options) {},
		"RESP2":     func(o *redis.Options) { o.Protocol = 2 },
		"DB 3":      func(o *redis.Options) { o.DB = 3 },
		"name":      func(o *redis.Options) { o.ClientName = "me" },
		"idle":      func(o *redis.Options) { o.MinIdleConns = 8 },
		"one place": func(o *redis.Options) { o.PoolSize, o.PipelinePoolSize = 1, 1 },
		"connect": func(o *redis.Options) {
			o.OnConnect = func(ctx context.Context, cn *redis.Conn) error { return cn.Ping(ctx).Err() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			var set redis.Options
			rdb, ap := stNew(t, srv, func(o *redis.Options) { o.Password = "secret"; opt(o); set = *o })
			ctx, cancel := context.WithTimeout(stCtx, 5*time.Second)
			defer cancel()
			const callers = 60
			key := "setup " + name
			stMany(callers, func(int) {
				if err := rdb.Incr(ctx, key).Err(); err != nil {
					t.Error(err)
				}
			})
			if n, err := rdb.Get(ctx, key).Int(); n != callers || err != nil {
				t.Errorf("%d, %v after %d INCRs", n, err, callers)
			}
			// Ask from outside which database the commands went to.
			stDB(t, srv, "secret", set.DB, key)
			s := ap.Stats()
			for reason, n := range s.Direct {
				if n != 0 {
					t.Errorf("direct, %s: %d; no command of the test was", reason, n)
				}
			}
			if s.Commands != callers+1 || s.Outcomes["ok"] != callers+1 || s.Pipelines != 0 || s.PipelinedCommands != 0 {
				t.Errorf("%d commands of ours, but %v", callers+1, s)
			}
		})
	}
}

// stDB checks that a key is in the given database.
func stDB(t *testing.T, srv *redistest.Server, password string, db int, key string) {
	t.Helper()
	rdb := srv.Client(t, func(o *redis.Options) { o.DB, o.Password = db, password })
	if n, err := rdb.Exists(stCtx, key).Result(); n != 1 || err != nil {
		t.Errorf("%q is not in DB %d: %v", key, db, err)
	}
}

// A Conn, a Tx and a transaction keep to their own connection while pooled commands share theirs.
func TestState_ConnTxStayOnTheirConnection(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := stNew(t, srv, nil)
	rdb.Set(stCtx, "where", "DB 0", 0)
	stop := stCompany(32, func(int) {
		if v, err := rdb.Get(stCtx, "where").Result(); v != "DB 0" || err != nil {
			t.Errorf("pooled GET: %q, %v", v, err)
		}
	})
	defer stop()

	stMany(8, func(i int) { // go-redis 3267
		for range 10 {
			conn := rdb.EphemeralConn() // a Conn would hand DB 5 back to the pool, with us or without
			id := conn.ClientID(stCtx).Val()
			if err := conn.Select(stCtx, 5).Err(); err != nil {
				t.Error(err)
			}
			key := fmt.Sprint("conn", i)
			conn.Set(stCtx, key, i, 0)
			if v, err := conn.Get(stCtx, key).Int(); v != i || err != nil {
				t.Errorf("Conn in DB 5: %d, %v", v, err)
			}
			if v, err := conn.Get(stCtx, "where").Result(); !errors.Is(err, redis.Nil) {
				t.Errorf("Conn in DB 5 reads %q, %v", v, err)
			}
			if again := conn.ClientID(stCtx).Val(); again != id {
				t.Errorf("Conn changed its connection: %d, %d", id, again)
			}
			_ = conn.Close()
		}
	})

	const workers, each = 8, 10
	var lost atomic.Int64
	stMany(workers, func(int) { // optimistic locking is exact only if WATCH, GET and EXEC share a connection
		for n := 0; n < each; {
			err := rdb.Watch(stCtx, func(tx *redis.Tx) error {
				v, err := tx.Get(stCtx, "watched").Int()
				if err != nil && !errors.Is(err, redis.Nil) {
					return err
				}
				_, err = tx.TxPipelined(stCtx, func(p redis.Pipeliner) error {
					p.Set(stCtx, "watched", v+1, 0)
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
	if v := rdb.Get(stCtx, "watched").Val(); v != strconv.Itoa(workers*each) {
		t.Errorf("%d transactions moved the counter to %s", workers*each, v)
	}
	if lost.Load() == 0 {
		t.Log("no transaction met another: WATCH was not put to the test")
	}

	stMany(8, func(i int) {
		key := fmt.Sprint("tx", i)
		for range 10 {
			var a, b *redis.IntCmd
			_, err := rdb.TxPipelined(stCtx, func(p redis.Pipeliner) error {
				a, b = p.Incr(stCtx, key), p.Incr(stCtx, key)
				return nil
			})
			if err != nil || b.Val() != a.Val()+1 {
				t.Errorf("TxPipelined: %d, %d, %v", a.Val(), b.Val(), err)
			}
		}
	})
	stop()
	stShared(t, ap)
}

// A caller that leaves a Conn in the middle of a command leaves a reply behind. Neither the Conn's next command nor,
// after Close, the pool's may read it.
func TestState_ConnLeftInFlight(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := stNew(t, srv, func(o *redis.Options) { o.PoolSize = 1 })
	for i := range 8 {
		conn := rdb.Conn()
		conn.Ping(stCtx)
		stDo(t, srv, "CLIENT", "PAUSE", "30")
		ctx, cancel := context.WithTimeout(stCtx, time.Millisecond)
		// A plain client waits for the reply, an autopiped one may return at the end of the context.
		if v, err := conn.Echo(ctx, "late").Result(); err == nil && v != "late" || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("ECHO under CLIENT PAUSE: %q, %v", v, err)
		}
		cancel()
		if i%2 == 0 {
			if v, err := conn.Echo(stCtx, "next").Result(); v != "next" || err != nil {
				t.Fatalf("the Conn's next command: %q, %v", v, err)
			}
		}
		_ = conn.Close()
		if v, err := rdb.Echo(stCtx, "pooled").Result(); v != "pooled" || err != nil {
			t.Fatalf("the pool's next command: %q, %v", v, err)
		}
	}
	stAtRest(t, ap)
}

// Commands that change or depend on their connection never ride with others, however they are spelled (go-redis 713,
// 312). A hook behind autopipe answers them, so that SHUTDOWN and MONITOR can be tried, and sees how they came.
func TestState_RawNeverBatched(t *testing.T) {
	srv := redistest.Run(t)
	names := strings.Fields(`select auth hello client reset quit readonly readwrite asking subscribe unsubscribe
		psubscribe punsubscribe ssubscribe sunsubscribe monitor sync psync replconf multi exec discard watch unwatch
		wait waitaof blpop blmove bzmpop shutdown debug migrate swapdb replicaof failover cluster config himport
		script function flushall flushdb dbsize keys`)
	rec := stRecord(names...)
	rdb, ap := stNew(t, srv, nil, rec)
	rdb.Ping(stCtx)
	stop := stCompany(16, func(int) { rdb.Get(stCtx, "company") })
	defer stop()
	upper := func(s string) *string { s = strings.ToUpper(s); return &s }
	want := map[string]int{}
	for _, name := range names {
		before, _ := rec.counts(name) // the set-up's HELLO and CLIENT
		stMany(8, func(int) {
			for _, spelled := range []any{name, strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], []byte(name), upper(name)} {
				if err := rdb.Do(stCtx, spelled, "x", "y").Err(); err != nil {
					t.Errorf("%v: %v", spelled, err)
				}
			}
			if err := rdb.Process(stCtx, redis.NewStatusCmd(stCtx, name)); err != nil {
				t.Error(err)
			}
		})
		want[name] = before + 8*6
	}
	stop()
	setup := map[string]bool{"hello": true, "client": true} // new connections send these meanwhile
	for _, name := range names {
		alone, _ := rec.counts(name)
		rec.mu.Lock()
		shared := 0
		for _, p := range rec.names {
			for _, n := range p {
				if n == name && !(setup[n] && p[0] == "client") {
					shared++
				}
			}
		}
		rec.mu.Unlock()
		if shared != 0 || alone < want[name] || alone > want[name] && !setup[name] {
			t.Errorf("%s: %d alone, %d in batches; want %d, 0", name, alone, shared, want[name])
		}
	}
	stShared(t, ap)
	if s := ap.Stats(); s.Direct["connection"] == 0 || s.Direct["transaction"] == 0 || s.Direct["unknown"] != 0 {
		t.Errorf("reasons: %v", s)
	}
}

// The ones that a pool survives, against the real server: their own answer, and none of the neighbours harmed.
func TestState_RawOnServer(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := stNew(t, srv, nil)
	rdb.Set(stCtx, "company", "c", 0)
	stop := stCompany(16, func(int) {
		if v, err := rdb.Get(stCtx, "company").Result(); v != "c" || err != nil {
			t.Errorf("GET: %q, %v", v, err)
		}
	})
	defer stop()
	cases := []struct {
		args []any
		want string
	}{
		{[]any{"SELECT", 0}, "OK <nil>"},
		{[]any{"AUTH", "nobody", "x"}, "<nil> WRONGPASS invalid username-password pair or user is disabled."},
		{[]any{"client", "getname"}, "<nil> redis: nil"},
		{[]any{"READONLY"}, "<nil> ERR This instance has cluster support disabled"},
		{[]any{"ASKING"}, "<nil> ERR This instance has cluster support disabled"},
		{[]any{"EXEC"}, "<nil> ERR EXEC without MULTI"},
		{[]any{"DISCARD"}, "<nil> ERR DISCARD without MULTI"},
		{[]any{"UNWATCH"}, "OK <nil>"},
	}
	for range 20 {
		for _, c := range cases {
			v, err := rdb.Do(stCtx, c.args...).Result()
			if got := fmt.Sprint(v, " ", err); got != c.want {
				t.Errorf("%v: %s, want %s", c.args, got, c.want)
			}
		}
	}
	stop()
	stShared(t, ap)
	if s := ap.Stats(); s.Direct["connection"] != 20*5 || s.Direct["transaction"] != 20*3 {
		t.Errorf("%v", s)
	}
}

// Blocking commands wait on connections of their own: a thousand GETs finish while all of them still wait (redis-rs
// 453, radix 344).
func TestState_BlockingBesideGets(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := stNew(t, srv, func(o *redis.Options) { o.PoolSize = 40 })
	rdb.XGroupCreateMkStream(stCtx, "xg1", "g", "$")
	rdb.XGroupCreateMkStream(stCtx, "xg2", "g", "$")
	do := func(args ...any) func() error { return func() error { return rdb.Do(stCtx, args...).Err() } }
	push := func(key string) []string { return []string{"RPUSH", key, "v"} }
	zadd := func(key string) []string { return []string{"ZADD", key, "1", "v"} }
	xadd := func(key string) []string { return []string{"XADD", key, "*", "f", "v"} }
	const ms = 20000 // longer than the test: they end because of their release
	cases := []struct {
		name    string
		call    func() error
		release []string
	}{
		{"BLPop", func() error { return rdb.BLPop(stCtx, 20*time.Second, "l1").Err() }, push("l1")},
		{"raw blpop", do("blpop", "l2", 20), push("l2")},
		{"raw BRPOP", do("BRPOP", "l3", 20), push("l3")},
		{"name as bytes", do([]byte("BlPop"), "l4", 20), push("l4")},
		{"BLMove", func() error { return rdb.BLMove(stCtx, "l5", "d", "left", "left", 20*time.Second).Err() }, push("l5")},
		{"BLMPop", func() error { return rdb.BLMPop(stCtx, 20*time.Second, "left", 1, "l6").Err() }, push("l6")},
		{"BRPopLPush", func() error { return rdb.BRPopLPush(stCtx, "l7", "d", 20*time.Second).Err() }, push("l7")},
		{"BZPopMin", func() error { return rdb.BZPopMin(stCtx, 20*time.Second, "z1").Err() }, zadd("z1")},
		{"BZMPop", func() error { return rdb.BZMPop(stCtx, 20*time.Second, "min", 1, "z2").Err() }, zadd("z2")},
		{"XRead Block", func() error {
			return rdb.XRead(stCtx, &redis.XReadArgs{Streams: []string{"x1", "$"}, Block: 20 * time.Second}).Err()
		}, xadd("x1")},
		{"xread BLOCK as bytes", do("xread", []byte("BLOCK"), ms, "streams", "x2", "$"), xadd("x2")},
		{"XREAD after COUNT", do("XREAD", "COUNT", 1, "Block", ms, "STREAMS", "x3", "$"), xadd("x3")},
		{"stream named block", do("xread", "block", ms, "streams", "block", "$"), xadd("block")},
		{"consumer named streams", do("xreadgroup", "group", "g", "streams", "block", ms, "streams", "xg1", ">"), xadd("xg1")},
		{"XReadGroup Block", func() error {
			return rdb.XReadGroup(stCtx, &redis.XReadGroupArgs{Group: "g", Consumer: "streams", Streams: []string{"xg2", ">"}, Block: 20 * time.Second}).Err()
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
	blocked := func() bool { return stInfo(t, srv, "clients", "blocked_clients") == all }
	stUntil(t, all+" clients wait", blocked)

	rdb.Set(stCtx, "k", "v", 0)
	stMany(50, func(int) {
		for range 20 {
			if v, err := rdb.Get(stCtx, "k").Result(); v != "v" || err != nil {
				t.Errorf("GET: %q, %v", v, err)
			}
		}
	})
	if !blocked() {
		t.Error("the GETs were not done before the blocking commands ended")
	}
	for _, c := range cases {
		if c.release != nil {
			stDo(t, srv, c.release...)
		}
	}
	for line := range strings.Lines(stDo(t, srv, "CLIENT", "LIST").(string)) {
		if strings.Contains(line, " cmd=wait ") {
			id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " ")
			stDo(t, srv, "CLIENT", "UNBLOCK", id)
		}
	}
	wg.Wait()
	stShared(t, ap)
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
			rec := stRecord()
			rdb, ap := stNew(t, srv, nil, rec)
			rdb.XAdd(stCtx, &redis.XAddArgs{Stream: "block", ID: "1-1", Values: []any{"f", "v"}})
			rdb.XGroupCreate(stCtx, "block", "g", "0")
			rdb.XGroupCreate(stCtx, "block", "block", "0")
			before := ap.Stats()
			name := redis.NewCmd(stCtx, c.args...).Name()
			sent, piped := uint64(0), 0
			for round := 0; round == 0 || c.want == "" && piped == 0 && round < 100; round++ { // until callers overlap
				stMany(callers, func(int) {
					for range 4 {
						if v, err := rdb.Do(stCtx, c.args...).Result(); err != nil || v == nil {
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

// On a cluster, what go-redis sends to all nodes still is, and gives the cluster-wide answer.
func TestState_FanOutOnCluster(t *testing.T) {
	cl := redistest.RunCluster(t, 3, 0)
	plain, rdb := cl.Client(t), cl.Client(t)
	ap := autopipe.New()
	rdb.AddHook(ap)
	const keys = 300
	stMany(100, func(i int) {
		for k := i; k < keys; k += 100 {
			if err := rdb.Set(stCtx, fmt.Sprint("key", k), k, 0).Err(); err != nil {
				t.Error(err)
			}
		}
	})
	stShared(t, ap)
	stop := stCompany(16, func(i int) { rdb.Get(stCtx, fmt.Sprint("key", i)) })
	defer stop()
	script := redis.NewScript(`return 'here'`)
	for _, c := range []struct {
		name string
		call func(*redis.ClusterClient) any
	}{
		{"DBSIZE", func(c *redis.ClusterClient) any { return c.DBSize(stCtx).Val() }},
		{"SCRIPT LOAD", func(c *redis.ClusterClient) any { return script.Load(stCtx, c).Val() }},
		{"SCRIPT EXISTS", func(c *redis.ClusterClient) any { return fmt.Sprint(script.Exists(stCtx, c).Val()) }},
		{"each master FLUSHALL", func(c *redis.ClusterClient) any {
			return c.ForEachMaster(stCtx, func(ctx context.Context, m *redis.Client) error { return m.Keys(ctx, "*").Err() })
		}},
	} {
		if got, want := c.call(rdb), c.call(plain); got != want {
			t.Errorf("%s: %v, plain %v", c.name, got, want)
		}
	}
	for i := range 30 { // EVALSHA on whichever node: LOAD reached all
		if v, err := script.EvalSha(stCtx, rdb, []string{fmt.Sprint("key", i)}).Text(); v != "here" || err != nil {
			t.Errorf("EVALSHA: %q, %v", v, err)
		}
	}
	stop() // go-redis does not let the resolver be changed under load
	// With the resolver that knows the server's policies, more commands fan out.
	for _, c := range []*redis.ClusterClient{plain, rdb} {
		c.SetCommandInfoResolver(c.NewDynamicResolver())
	}
	for _, c := range []struct {
		name string
		call func(*redis.ClusterClient) redis.Cmder
	}{
		{"dbsize", func(c *redis.ClusterClient) redis.Cmder { return c.Do(stCtx, "dbsize") }},
		{"keys", func(c *redis.ClusterClient) redis.Cmder { return c.Do(stCtx, "keys", "*") }},
		{"Keys", func(c *redis.ClusterClient) redis.Cmder { return c.Keys(stCtx, "*") }},
		{"Exists over slots", func(c *redis.ClusterClient) redis.Cmder { return c.Exists(stCtx, "key1", "key2", "key3", "no") }},
		{"MGet over slots", func(c *redis.ClusterClient) redis.Cmder { return c.MGet(stCtx, "key1", "key2", "key3", "no") }},
		{"Del over slots", func(c *redis.ClusterClient) redis.Cmder { return c.Del(stCtx, "no", "none", "nothing") }},
	} {
		if got, want := stSorted(c.call(rdb)), stSorted(c.call(plain)); got != want {
			t.Errorf("%s: %.200s, plain %.200s", c.name, got, want)
		}
	}
	if err := rdb.FlushAll(stCtx).Err(); err != nil || plain.DBSize(stCtx).Val() != 0 {
		t.Errorf("FLUSHALL: %v, %d left", err, plain.DBSize(stCtx).Val())
	}
	if s := ap.Stats(); s.Direct["fanout"]+s.Direct["unpaired"] == 0 {
		t.Errorf("%v", s)
	}
}

// stSorted is the reply and the error as text, its words in order: nodes answer in any.
func stSorted(cmd redis.Cmder) string {
	v := reflect.ValueOf(cmd).MethodByName("Val").Call(nil)[0].Interface()
	words := strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(fmt.Sprint(v, " ", cmd.Err())))
	slices.Sort(words)
	return strings.Join(words, " ")
}

// With client-side caching on, reads that the cache can answer do not reach the server, and a write elsewhere is seen.
// The hook knows its client only from what go-redis sends through it.
func TestState_ClientSideCache(t *testing.T) {
	cached := func(o *redis.Options) {
		o.Protocol, o.ClientSideCacheConfig = 3, &redis.ClientSideCacheConfig{MaxEntries: 1000}
		o.PoolSize = 1 // "after use" then means that no tracked connection is set up any more
	}
	for name, add := range map[string]func(rdb *redis.Client){
		"hook first": func(rdb *redis.Client) { rdb.AddHook(autopipe.New()) },
		"hook after use": func(rdb *redis.Client) {
			rdb.Get(stCtx, "a")
			rdb.AddHook(autopipe.New(autopipe.WithClientSideCache()))
		},
		"attached after use": func(rdb *redis.Client) { rdb.Get(stCtx, "a"); autopipe.Attach(rdb) },
		"hook with linger": func(rdb *redis.Client) {
			rdb.AddHook(autopipe.New(autopipe.WithLinger(time.Millisecond), autopipe.WithClientSideCache()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := redistest.Run(t)
			stDo(t, srv, "MSET", "a", "1", "b", "2", "c", "3", "d", "4")
			rdb := srv.Client(t, cached)
			add(rdb)
			stop := stCompany(8, func(int) { rdb.Incr(stCtx, "n") }) // lone reads would find the cache anyway
			defer stop()
			read := func() {
				stMany(64, func(i int) {
					for j := range 16 {
						k := (i + j) % 4
						if v, err := rdb.Get(stCtx, string(rune('a'+k))).Int(); v != k+1 || err != nil {
							t.Errorf("GET %c: %d, %v", 'a'+k, v, err)
						}
					}
				})
			}
			read() // fills the cache
			if err := srv.ResetStats(); err != nil {
				t.Fatal(err)
			}
			read()
			if n := stCalls(t, srv, "get"); n != 0 {
				t.Errorf("%d of 1024 cached reads reached the server", n)
			}
			if hits := rdb.CSCStats().Hits; hits < 1024 {
				t.Errorf("%d hits", hits)
			}
			stDo(t, srv, "SET", "a", "7")
			stUntil(t, "the write is seen", func() bool { return rdb.Get(stCtx, "a").Val() == "7" })
		})
	}
}

// The smallest pools, many callers: a batch needs one connection, whichever pool it comes from.
func TestState_PoolOfOne(t *testing.T) {
	srv := redistest.Run(t)
	for name, opt := range map[string]func(*redis.Options){
		"1 and 1":          func(o *redis.Options) { o.PoolSize, o.PipelinePoolSize = 1, 1 },
		"1 and none":       func(o *redis.Options) { o.PoolSize, o.PipelinePoolSize = 1, -1 },
		"1, MaxActive 1":   func(o *redis.Options) { o.PoolSize, o.PipelinePoolSize, o.MaxActiveConns = 1, 1, 1 },
		"none, LIFO, idle": func(o *redis.Options) { o.PoolSize, o.PipelinePoolSize, o.MinIdleConns = 1, -1, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			rdb, ap := stNew(t, srv, opt)
			stMany(500, func(i int) {
				ctx, cancel := stCtx, context.CancelFunc(func() {})
				if i%2 == 0 { // half of them may leave
					ctx, cancel = context.WithTimeout(stCtx, 10*time.Second)
				}
				defer cancel()
				for j := range 4 {
					want := fmt.Sprint(name, i, j)
					if v, err := rdb.Echo(ctx, want).Result(); v != want || err != nil {
						t.Errorf("%q, %v; want %q", v, err, want)
					}
				}
			})
			stShared(t, ap)
			stAtRest(t, ap)
		})
	}
}

// Subscriptions have connections of their own, set up through the hooks too.
func TestState_Subscribe(t *testing.T) {
	srv := redistest.Shared(t)
	rdb, ap := stNew(t, srv, nil)
	sub := rdb.Subscribe(stCtx, "state channel")
	defer func() { _ = sub.Close() }()
	if _, err := sub.Receive(stCtx); err != nil {
		t.Fatal(err)
	}
	const senders, each = 20, 10
	go stMany(senders, func(i int) {
		for range each {
			if n, err := rdb.Publish(stCtx, "state channel", i).Result(); n != 1 || err != nil {
				t.Errorf("PUBLISH reached %d, %v", n, err)
			}
		}
	})
	got := map[string]int{}
	for range senders * each {
		msg, err := sub.ReceiveMessage(stCtx)
		if err != nil {
			t.Fatal(err)
		}
		got[msg.Payload]++
	}
	for i := range senders {
		if n := got[strconv.Itoa(i)]; n != each {
			t.Errorf("%d of %d messages from sender %d", n, each, i)
		}
	}
	stUntil(t, "the senders are done", func() bool { s := ap.Stats(); return s.Outcomes["ok"] == senders*each })
	stShared(t, ap)
	stAtRest(t, ap)
}

// What kind of client a lane serves must not depend on what is sent first: on a single server MGET and DEL are batched,
// after a window too, which does not come through Process.
func TestState_WindowFirst(t *testing.T) {
	srv := redistest.Shared(t)
	rdb, ap := stNew(t, srv, nil)
	w := autopipe.NewWindow(rdb)
	n := w.Del(stCtx, "window first")
	if err := w.Submit(stCtx).Wait(stCtx); err != nil || n.Err() != nil {
		t.Fatal(err, n.Err())
	}
	before := ap.Stats().Direct["fanout"]
	for round := 0; round < 100 && ap.Stats().MeanBatch() < 1.1; round++ { // until callers overlap
		stMany(64, func(int) {
			if err := rdb.MGet(stCtx, "a", "b").Err(); err != nil {
				t.Error(err)
			}
		})
	}
	if s := ap.Stats(); s.Direct["fanout"] != before {
		t.Errorf("one server, but %v", s)
	}
	stShared(t, ap)
}

// stPipelines is an observer of explicit pipelines.
type stPipelines struct {
	mu   sync.Mutex
	seen []telemetry.Pipeline
}

func (p *stPipelines) Attach(telemetry.Pipe) telemetry.Events {
	return telemetry.Events{Pipeline: func(_ context.Context, e *telemetry.Pipeline) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.seen = append(p.seen, *e)
	}}
}

// A pipeline of the user's passes in one piece, in its order, with its own commands, and is reported.
func TestState_ExplicitPipelineUnchanged(t *testing.T) {
	srv := redistest.Run(t)
	obs, rdb := &stPipelines{}, srv.Client(t)
	ap := autopipe.New(autopipe.WithObserver(obs))
	rdb.AddHook(ap)
	var mine sync.Map // the commands that arrived behind autopipe
	rdb.AddHook(stHooks{pipeline: func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
		return func(ctx context.Context, cmds []redis.Cmder) error {
			for i, cmd := range cmds {
				mine.Store(cmd, [2]int{i, len(cmds)})
			}
			return next(ctx, cmds)
		}
	}})
	stop := stCompany(16, func(int) { rdb.Get(stCtx, "company") })
	defer stop()
	const pipes, size = 20, 7
	stMany(pipes, func(i int) {
		cmds, err := rdb.Pipelined(stCtx, func(p redis.Pipeliner) error {
			for j := range size {
				p.Echo(stCtx, fmt.Sprint(i, j))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for j, cmd := range cmds {
			if v := cmd.(*redis.StringCmd).Val(); v != fmt.Sprint(i, j) {
				t.Errorf("reply %d: %q", j, v)
			}
			if at, _ := mine.Load(cmd); at != [2]int{j, size} {
				t.Errorf("command %d of %d arrived as %v", j, size, at)
			}
		}
	})
	if _, err := rdb.TxPipelined(stCtx, func(p redis.Pipeliner) error { p.Incr(stCtx, "n"); return nil }); err != nil {
		t.Error(err)
	}
	stop()
	stShared(t, ap)
	var tx, plain int
	for _, e := range obs.seen {
		switch {
		case e.Tx && e.Err == nil:
			tx++
		case e.Size == size && e.Err == nil && e.Duration > 0:
			plain++
		}
	}
	if s := ap.Stats(); tx != 1 || plain != pipes || s.Pipelines != pipes+1 || s.PipelinedCommands < pipes*size+1 {
		t.Errorf("%d pipelines and %d transactions reported; %v", plain, tx, s)
	}
}
