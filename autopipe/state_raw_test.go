package autopipe_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// Commands that change or depend on their connection never ride with others, however they are spelled (go-redis 713,
// 312). A hook behind autopipe answers them, so that SHUTDOWN and MONITOR can be tried, and sees how they came.
func TestState_RawNeverBatched(t *testing.T) {
	srv := redistest.Run(t)
	names := strings.Fields(`select auth hello client reset quit readonly readwrite asking subscribe unsubscribe
		psubscribe punsubscribe ssubscribe sunsubscribe monitor sync psync replconf multi exec discard watch unwatch
		wait waitaof blpop blmove bzmpop shutdown debug migrate swapdb replicaof failover cluster config himport
		script function flushall flushdb dbsize keys`)
	rec := newRecorder(names...)
	rdb, ap := hookedOn(t, srv, nil)
	rdb.AddHook(rec)
	rdb.Ping(bg)
	stop := company(16, func(int) { rdb.Get(bg, "company") })
	defer stop()
	upper := func(s string) *string { s = strings.ToUpper(s); return &s }
	want := map[string]int{}
	for _, name := range names {
		before, _ := rec.counts(name) // the set-up's HELLO and CLIENT
		many(8, func(int) {
			for _, spelled := range []any{name, strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], []byte(name), upper(name)} {
				if err := rdb.Do(bg, spelled, "x", "y").Err(); err != nil {
					t.Errorf("%v: %v", spelled, err)
				}
			}
			if err := rdb.Process(bg, redis.NewStatusCmd(bg, name)); err != nil {
				t.Error(err)
			}
		})
		want[name] = before + 8*6
	}
	stop()
	setup := map[string]bool{"hello": true, "client": true} // new connections send these meanwhile
	for _, name := range names {
		alone, _ := rec.counts(name)
		shared := 0
		for _, p := range rec.pipelines() {
			for _, n := range p {
				if n == name && !(setup[n] && p[0] == "client") {
					shared++
				}
			}
		}
		if shared != 0 || alone < want[name] || alone > want[name] && !setup[name] {
			t.Errorf("%s: %d alone, %d in batches; want %d, 0", name, alone, shared, want[name])
		}
	}
	mustShare(t, ap)
	if s := ap.Stats(); s.Direct["connection"] == 0 || s.Direct["transaction"] == 0 || s.Direct["unknown"] != 0 {
		t.Errorf("reasons: %v", s)
	}
}

// The ones that a pool survives, against the real server: their own answer, and none of the neighbours harmed.
func TestState_RawOnServer(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := hookedOn(t, srv, nil)
	rdb.Set(bg, "company", "c", 0)
	stop := company(16, func(int) {
		if v, err := rdb.Get(bg, "company").Result(); v != "c" || err != nil {
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
			v, err := rdb.Do(bg, c.args...).Result()
			if got := fmt.Sprint(v, " ", err); got != c.want {
				t.Errorf("%v: %s, want %s", c.args, got, c.want)
			}
		}
	}
	stop()
	mustShare(t, ap)
	if s := ap.Stats(); s.Direct["connection"] != 20*5 || s.Direct["transaction"] != 20*3 {
		t.Errorf("%v", s)
	}
}

// Subscriptions have connections of their own, set up through the hooks too.
func TestState_Subscribe(t *testing.T) {
	rdb, ap := hooked(t)
	sub := rdb.Subscribe(bg, "state channel")
	defer func() { _ = sub.Close() }()
	if _, err := sub.Receive(bg); err != nil {
		t.Fatal(err)
	}
	const senders, each = 20, 10
	go many(senders, func(i int) {
		for range each {
			if n, err := rdb.Publish(bg, "state channel", i).Result(); n != 1 || err != nil {
				t.Errorf("PUBLISH reached %d, %v", n, err)
			}
		}
	})
	got := map[string]int{}
	for range senders * each {
		msg, err := sub.ReceiveMessage(bg)
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
	until(t, "the senders are done", func() bool { s := ap.Stats(); return s.Outcomes["ok"] == senders*each })
	mustShare(t, ap)
	atRest(t, ap)
}
