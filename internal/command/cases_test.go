package command_test

import (
	"reflect"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/command"
)

func TestAccepts(t *testing.T) {
	q := &redis.GeoSearchLocationQuery{}
	for _, c := range []struct {
		cmd  redis.Cmder
		want bool
	}{
		{redis.NewStringCmd(ctx, "get", "k"), true},
		{redis.NewStringCmd(ctx, "GET", "k"), true},
		{redis.NewStatusCmd(ctx, "get", "k"), true},
		{redis.NewCmd(ctx, "get", "k"), true},
		{redis.NewRawCmd(ctx, "get", "k"), true},
		{redis.NewIntCmd(ctx, "get", "k"), false},
		{redis.NewFloatCmd(ctx, "get", "k"), false},
		{redis.NewStringSliceCmd(ctx, "get", "k"), false},
		{struct{ *redis.StringCmd }{redis.NewStringCmd(ctx, "get", "k")}, false},
		{redis.NewIntCmd(ctx, "incr", "k"), true},
		{redis.NewStatusCmd(ctx, "set", "k", "v"), true},
		{redis.NewBoolCmd(ctx, "set", "k", "v", "nx"), true},
		{redis.NewIntCmd(ctx, "set", "k", "v"), false},
		{redis.NewIntCmd(ctx, "setnx", "k", "v"), true},
		{redis.NewBoolCmd(ctx, "setnx", "k", "v"), true},
		{redis.NewStringSliceCmd(ctx, "zrange", "k", 0, -1), true},
		{redis.NewStringSliceCmd(ctx, "zrange", "k", 0, -1, "WithScores"), false},
		{redis.NewZSliceCmd(ctx, "zrange", "k", 0, -1, []byte("withscores")), true},
		{redis.NewZSliceCmd(ctx, "zrange", "k", 0, -1), false},
		{redis.NewStringCmd(ctx, "spop", "k"), true},
		{redis.NewStringCmd(ctx, "spop", "k", 2), false},
		{redis.NewStringSliceCmd(ctx, "spop", "k", 2), true},
		{redis.NewStringSliceCmd(ctx, "spop", "k"), false},
		{redis.NewIntCmd(ctx, "zadd", "k", 1, "m"), true},
		{redis.NewIntCmd(ctx, "zadd", "k", "incr", 1, "m"), false},
		{redis.NewFloatCmd(ctx, "zadd", "k", "incr", 1, "m"), true},
		{redis.NewStringCmd(ctx, "object", "encoding", "k"), true},
		{redis.NewStringCmd(ctx, "object", "ENCODING", "k"), true},
		{redis.NewIntCmd(ctx, "object", "encoding", "k"), false},
		{redis.NewIntCmd(ctx, "object", "freq", "k"), true},
		{redis.NewIntCmd(ctx, "object"), false},
		{redis.NewXInfoGroupsCmd(ctx, "k"), true},
		{redis.NewXPendingCmd(ctx, "xpending", "k", "g"), true},
		{redis.NewXPendingCmd(ctx, "xpending", "k", "g", "-", "+", 1), false},
		{redis.NewGeoSearchLocationCmd(ctx, q, "geosearch", "k"), true},
		{redis.NewIntCmd(ctx, "georadius", "k", 1, 1, 1, "m", "store", "d"), true},
		{redis.NewIntCmd(ctx, "georadius", "k", 1, 1, 1, "m"), false},
		{redis.NewIntCmd(ctx, "sort", "k", "store", "d"), true},
		{redis.NewStringSliceCmd(ctx, "sort", "k", "store", "d"), false},
	} {
		i := command.Lookup(c.cmd.Name())
		if got := i.Accepts(c.cmd); got != c.want {
			t.Errorf("%s as %T: %t", c.cmd, c.cmd, got)
		}
	}
}

func TestReplayable(t *testing.T) {
	no := "nx"
	for _, c := range []struct {
		args []any
		want bool
	}{
		{[]any{"get", "k"}, true},
		{[]any{"xread", "streams", "k", "0"}, true},
		{[]any{"set", "k", "v"}, true},
		{[]any{"set", "k", "nx"}, true},
		{[]any{"set", "k", "v", "EX", 10}, true},
		{[]any{"set", "k", "v", "px", 10, "xx"}, true},
		{[]any{"set", "k", "v", []byte("KEEPTTL")}, true},
		{[]any{"set", "k", "v", "ex", 10, "NX"}, false},
		{[]any{"set", "k", "v", &no}, false},
		{[]any{"set", "k", "v", []byte("Get")}, false},
		{[]any{"set", "k", "v", "ifeq", "w"}, false},
		{[]any{"set", "k"}, false},
		{[]any{"mset", "a", 1, "b", 2}, true},
		{[]any{"hset", "k", "f", "v"}, false},
		{[]any{"incr", "k"}, false},
		{[]any{"del", "k"}, false},
		{[]any{"setbit", "k", 1, 1}, false},
		{[]any{"expire", "k", 10}, true},
		{[]any{"expire", "k", int64(10), "xx"}, true},
		{[]any{"expire", "k", 10, "gt"}, false},
		{[]any{"expire", "k", "0"}, false},
		{[]any{"expireat", "k", 1 << 40}, true},
		{[]any{"expireat", "k", 1000}, false},
		{[]any{"getex", "k", "ex", 10}, true},
		{[]any{"getex", "k", "exat", 10}, false},
		{[]any{"ltrim", "k", int64(0), int64(99)}, true},
		{[]any{"ltrim", "k", "-100", "-1"}, true},
		{[]any{"ltrim", "k", 1, -1}, false},
		{[]any{"ltrim", "k", 0, -2}, false},
		{[]any{"sdiffstore", "d", "a", "b"}, true},
		{[]any{"sdiffstore", "b", "a", "b"}, false},
		{[]any{"zunionstore", "a", 2, []byte("a"), "b"}, false},
		{[]any{"bitop", "not", "d", "a"}, true},
		{[]any{"bitop", "not", "a", "a"}, false},
		{[]any{"copy", "a", "b"}, false},
		{[]any{"copy", "a", "b", "REPLACE"}, true},
		{[]any{"sort", "k"}, true},
		{[]any{"sort", "k", "store", "k"}, false},
		{[]any{"bitfield", "k", "get", "u8", 0}, true},
		{[]any{"bitfield", "k", "incrby", "u8", 0, 1}, false},
		{[]any{"eval", "return 1", 0}, false},
		{[]any{"publish", "c", "m"}, false},
		{[]any{"hexpire", "k", 10, "fields", 1, "f"}, false},
	} {
		cmd := redis.NewCmd(ctx, c.args...)
		if got := command.Lookup(cmd.Name()).Replayable(cmd); got != c.want {
			t.Errorf("%v: %t", c.args, got)
		}
	}
}

// TestReplayableOnServer runs what is called replayable twice and compares
// replies and the key left behind.
func TestReplayableOnServer(t *testing.T) {
	rdb := newClient(t)
	for _, args := range [][]any{
		{"set", "s", "v"}, {"set", "s", "v", "xx", "ex", 100}, {"setex", "s", 100, "v"}, {"psetex", "s", 100000, "v"},
		{"mset", "s", "w"}, {"hmset", "h", "f", "v"}, {"lset", "l", 0, "z"}, {"setrange", "s", 1, "zz"},
		{"expire", "s", 100}, {"pexpire", "s", 100000, "xx"}, {"getex", "s", "persist"}, {"ltrim", "l", 0, 1}, {"ltrim", "l", -2, -1},
		{"sdiffstore", "d", "a", "b"}, {"sunionstore", "d", "a", "b"}, {"zunionstore", "zd", 2, "z1", "z2"}, {"zrangestore", "zd", "z1", 0, 1},
		{"bitop", "not", "bd", "s"}, {"copy", "s", "c", "replace"}, {"pfmerge", "p", "p1"}, {"bitfield", "s", "get", "u8", 0}, {"sort", "l", "alpha"},
	} {
		rdb.FlushAll(ctx)
		rdb.Set(ctx, "s", "abc", 0)
		rdb.Expire(ctx, "s", 1000_000_000_000)
		rdb.RPush(ctx, "l", "a", "b", "c", "d")
		rdb.SAdd(ctx, "a", 1, 2)
		rdb.SAdd(ctx, "b", 2, 3)
		rdb.ZAdd(ctx, "z1", redis.Z{Score: 1, Member: "m"})
		rdb.PFAdd(ctx, "p1", "x")
		if cmd := redis.NewCmd(ctx, args...); !command.Lookup(cmd.Name()).Replayable(cmd) {
			t.Errorf("%v is not replayable", args)
		}
		dump := func() map[string]string {
			m := map[string]string{}
			for _, k := range rdb.Keys(ctx, "*").Val() {
				m[k] = rdb.Dump(ctx, k).Val()
			}
			return m
		}
		r1, err1 := rdb.Do(ctx, args...).Result()
		d1 := dump()
		r2, err2 := rdb.Do(ctx, args...).Result()
		if err1 != nil || err2 != nil || !reflect.DeepEqual(r1, r2) || !reflect.DeepEqual(d1, dump()) {
			t.Errorf("%v: %v %v, then %v %v", args, r1, err1, r2, err2)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	for _, cmd := range []redis.Cmder{
		redis.NewStringCmd(ctx, "get", "k"),
		redis.NewStatusCmd(ctx, "set", "k", []byte("v"), []byte("ex"), 10),
		redis.NewZSliceCmd(ctx, "zrange", "k", 0, -1, "withscores"),
		redis.NewStringCmd(ctx, "object", "encoding", "k"),
		redis.NewStatusCmd(ctx, "ltrim", []byte("k"), []byte("0"), "10"),
		redis.NewIntCmd(ctx, "sdiffstore", []byte("d"), "a", []byte("b")),
	} {
		name := cmd.Name()
		n := testing.AllocsPerRun(100, func() {
			i := command.Lookup(name)
			if !i.Accepts(cmd) || !i.Replayable(cmd) || !command.CanClone(cmd) || !command.CanShare(cmd) {
				t.Fatalf("%s refused", cmd)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkLookupAccepts(b *testing.B) {
	cmd := redis.NewStatusCmd(ctx, "set", "k", "v")
	for b.Loop() {
		if i := command.Lookup("set"); !i.Accepts(cmd) {
			b.Fatal("refused")
		}
	}
}
