package autopipe_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// On a cluster, what go-redis sends to all nodes still is, and gives the cluster-wide answer.
func TestState_FanOutOnCluster(t *testing.T) {
	cl := redistest.RunCluster(t, 3, 0)
	plain, rdb := cl.Client(t), cl.Client(t)
	ap := autopipe.New()
	rdb.AddHook(ap)
	const keys = 300
	many(100, func(i int) {
		for k := i; k < keys; k += 100 {
			if err := rdb.Set(bg, fmt.Sprint("key", k), k, 0).Err(); err != nil {
				t.Error(err)
			}
		}
	})
	mustShare(t, ap)
	stop := company(16, func(i int) { rdb.Get(bg, fmt.Sprint("key", i)) })
	defer stop()
	script := redis.NewScript(`return 'here'`)
	for _, c := range []struct {
		name string
		call func(*redis.ClusterClient) any
	}{
		{"DBSIZE", func(c *redis.ClusterClient) any { return c.DBSize(bg).Val() }},
		{"SCRIPT LOAD", func(c *redis.ClusterClient) any { return script.Load(bg, c).Val() }},
		{"SCRIPT EXISTS", func(c *redis.ClusterClient) any { return fmt.Sprint(script.Exists(bg, c).Val()) }},
		{"each master FLUSHALL", func(c *redis.ClusterClient) any {
			return c.ForEachMaster(bg, func(ctx context.Context, m *redis.Client) error { return m.Keys(ctx, "*").Err() })
		}},
	} {
		if got, want := c.call(rdb), c.call(plain); got != want {
			t.Errorf("%s: %v, plain %v", c.name, got, want)
		}
	}
	for i := range 30 { // EVALSHA on whichever node: LOAD reached all
		if v, err := script.EvalSha(bg, rdb, []string{fmt.Sprint("key", i)}).Text(); v != "here" || err != nil {
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
		{"dbsize", func(c *redis.ClusterClient) redis.Cmder { return c.Do(bg, "dbsize") }},
		{"keys", func(c *redis.ClusterClient) redis.Cmder { return c.Do(bg, "keys", "*") }},
		{"Keys", func(c *redis.ClusterClient) redis.Cmder { return c.Keys(bg, "*") }},
		{"Exists over slots", func(c *redis.ClusterClient) redis.Cmder { return c.Exists(bg, "key1", "key2", "key3", "no") }},
		{"MGet over slots", func(c *redis.ClusterClient) redis.Cmder { return c.MGet(bg, "key1", "key2", "key3", "no") }},
		{"Del over slots", func(c *redis.ClusterClient) redis.Cmder { return c.Del(bg, "no", "none", "nothing") }},
	} {
		if got, want := sortedReply(c.call(rdb)), sortedReply(c.call(plain)); got != want {
			t.Errorf("%s: %.200s, plain %.200s", c.name, got, want)
		}
	}
	if err := rdb.FlushAll(bg).Err(); err != nil || plain.DBSize(bg).Val() != 0 {
		t.Errorf("FLUSHALL: %v, %d left", err, plain.DBSize(bg).Val())
	}
	if s := ap.Stats(); s.Direct["fanout"]+s.Direct["unpaired"] == 0 {
		t.Errorf("%v", s)
	}
}

// sortedReply is the reply and the error as text, its words in order: nodes answer in any.
func sortedReply(cmd redis.Cmder) string {
	v := reflect.ValueOf(cmd).MethodByName("Val").Call(nil)[0].Interface()
	return sortWords(fmt.Sprint(v, " ", cmd.Err()))
}

// What kind of client a lane serves must not depend on what is sent first: on a single server MGET and DEL are batched,
// after a window too, which does not come through Process.
func TestState_WindowFirst(t *testing.T) {
	rdb, ap := hooked(t)
	w := autopipe.NewWindow(rdb)
	n := w.Del(bg, "window first")
	if err := w.Submit(bg).Wait(bg); err != nil || n.Err() != nil {
		t.Fatal(err, n.Err())
	}
	before := ap.Stats().Direct["fanout"]
	for round := 0; round < 100 && ap.Stats().MeanBatch() < 1.1; round++ { // until callers overlap
		many(64, func(int) {
			if err := rdb.MGet(bg, "a", "b").Err(); err != nil {
				t.Error(err)
			}
		})
	}
	if s := ap.Stats(); s.Direct["fanout"] != before {
		t.Errorf("one server, but %v", s)
	}
	mustShare(t, ap)
}
