package hook_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/internal/command"
)

func cmdOf(args ...any) redis.Cmder { return redis.NewCmd(context.Background(), args...) }

// TestClassify has commands of each class, as redis.Do makes them: their reply type fits always.
func TestClassify(t *testing.T) {
	tests := []struct {
		want hook.Class
		cmds [][]any
	}{
		{hook.Shared, [][]any{
			{"get", "k"}, {"set", "k", "v"}, {"incr", "n"}, {"mget", "a", "b"}, {"del", "a", "b"}, {"echo", "x"},
			{"publish", "ch", "m"}, {"eval", "return 1", 0}, {"evalsha", "sha", 0}, {"fcall", "f", 0}, {"object", "encoding", "k"},
			{"hgetall", "h"}, {"zadd", "z", 1, "m"}, {"xadd", "s", "*", "a", 1}, {"scan", 0}, {"time"}, {"sort", "k"},
			{"lmpop", 1, "l", "left"}, {"xautoclaim", "s", "g", "c", 0, 0},
		}},
		{hook.Blocking, [][]any{
			{"blpop", "l", 0}, {"brpop", "l", 0}, {"blmove", "a", "b", "left", "left", 0}, {"blmpop", 0, 1, "l", "left"},
			{"bzpopmin", "z", 0}, {"bzpopmax", "z", 0}, {"bzmpop", 0, 1, "z", "min"}, {"brpoplpush", "a", "b", 0},
		}},
		{hook.Connection, [][]any{
			{"select", 1}, {"auth", "pw"}, {"hello", 3}, {"client", "id"}, {"client", "reply", "off"}, {"subscribe", "ch"},
			{"psubscribe", "p*"}, {"ssubscribe", "ch"}, {"unsubscribe"}, {"monitor"}, {"readonly"}, {"readwrite"}, {"asking"},
			{"reset"}, {"quit"}, {"wait", 1, 0}, {"sync"}, {"psync", "?", -1}, {"replconf", "ack", 0},
		}},
		{hook.Transaction, [][]any{{"multi"}, {"exec"}, {"discard"}, {"watch", "k"}, {"unwatch"}}},
		{hook.FanOut, [][]any{{"ping"}, {"dbsize"}, {"keys", "*"}, {"flushall"}, {"flushdb"}, {"script", "load", "return 1"}}},
		{hook.Admin, [][]any{
			{"shutdown"}, {"debug", "sleep", 1}, {"config", "get", "*"}, {"bgsave"}, {"save"}, {"replicaof", "no", "one"},
			{"cluster", "info"}, {"slowlog", "get"}, {"acl", "whoami"}, {"migrate", "h", 1, "k", 0, 100}, {"failover"},
		}},
		{hook.Module, [][]any{{"json.get", "k"}, {"ft.search", "idx", "*"}, {"ts.add", "t", 1, 1}, {"bf.add", "b", "x"}}},
		{hook.Unknown, [][]any{{"no.such.command"}, {"xyzzy", 1}, {}, {nil}, {""}, {42}, {[]byte(nil)}, {"ge t", "k"}}},
	}
	c := hook.NewClassifier(nil, nil)
	for _, tt := range tests {
		for _, args := range tt.cmds {
			for _, topology := range []hook.Topology{hook.Single, hook.Several} {
				want := tt.want
				if topology == hook.Several && len(args) > 2 && (args[0] == "mget" || args[0] == "del") {
					want = hook.FanOut // may be split by key, which a pipeline does not do
				}
				if got, _ := c.Classify(cmdOf(args...), topology); got != want {
					t.Errorf("%v on topology %d: class %d, want %d", args, topology, got, want)
				}
			}
		}
	}
}

// TestClassify_KeepsWhatItLooksUp: the facts come with the class, and are nil for an unknown command alone.
func TestClassify_KeepsWhatItLooksUp(t *testing.T) {
	c := hook.NewClassifier([]string{"get"}, nil)
	for _, name := range command.Names() {
		class, info := c.Classify(cmdOf(name), hook.Single)
		if info == nil || info.Name != name {
			t.Errorf("%s: facts about %v", name, info)
		}
		if name == "get" && class != hook.Excluded {
			t.Errorf("get: class %d, want Excluded", class)
		}
	}
	if class, info := c.Classify(cmdOf("xyzzy"), hook.Single); class != hook.Unknown || info != nil {
		t.Errorf("xyzzy: class %d, facts %v", class, info)
	}
}

// TestClassify_XRead: a stream is read with or without waiting, and names may look like options.
func TestClassify_XRead(t *testing.T) {
	str := func(s string) *string { return &s }
	tests := []struct {
		args []any
		want hook.Class
	}{
		{[]any{"xread", "streams", "s", "0"}, hook.Shared},
		{[]any{"xread", "STREAMS", "s", "0"}, hook.Shared},
		{[]any{"xread", "count", 10, "streams", "s", "0"}, hook.Shared},
		{[]any{"xread", "COUNT", "10", "StReAmS", "s", "0"}, hook.Shared},
		{[]any{"xread", []byte("count"), 1, []byte("streams"), "s", "0"}, hook.Shared},
		{[]any{"xread", str("count"), 1, str("streams"), "s", "0"}, hook.Shared},
		{[]any{"xread", "streams", "block", "0"}, hook.Shared}, // a stream of that name
		{[]any{"xread", "count", "block", "streams", "s", "0"}, hook.Shared},
		{[]any{"xread", "block", 0, "streams", "s", "$"}, hook.Blocking},
		{[]any{"xread", "BLOCK", 100, "streams", "s", "$"}, hook.Blocking},
		{[]any{"xread", []byte("block"), 0, "streams", "s", "$"}, hook.Blocking},
		{[]any{"xread", str("Block"), 0, "streams", "s", "$"}, hook.Blocking},
		{[]any{"xread", "count", 1, "block", 0, "streams", "s", "$"}, hook.Blocking},
		{[]any{"xread", "count", "streams", "block", 0, "streams", "s", "$"}, hook.Blocking},
		{[]any{"xread"}, hook.Blocking},
		{[]any{"xread", "count"}, hook.Blocking},
		{[]any{"xread", "count", 1}, hook.Blocking},
		{[]any{"xread", nil, "streams", "s", "0"}, hook.Blocking},
		{[]any{"xread", (*string)(nil), "streams", "s", "0"}, hook.Blocking},
		{[]any{"xread", "newoption", "streams", "s", "0"}, hook.Blocking},
		{[]any{"xread", 7, "streams", "s", "0"}, hook.Blocking},

		{[]any{"xreadgroup", "group", "g", "c", "streams", "s", ">"}, hook.Shared},
		{[]any{"xreadgroup", "GROUP", "g", "c", "COUNT", 1, "NOACK", "STREAMS", "s", ">"}, hook.Shared},
		{[]any{"xreadgroup", "group", "g", "streams", "streams", "s", ">"}, hook.Shared}, // a consumer of that name
		{[]any{"xreadgroup", "group", "block", "block", "streams", "s", ">"}, hook.Shared},
		{[]any{"xreadgroup", "group", "g", "c", "claim", 5, "streams", "s", ">"}, hook.Shared},
		{[]any{"xreadgroup", "group", "g", "streams", "block", 0, "streams", "s", ">"}, hook.Blocking},
		{[]any{"xreadgroup", "group", "g", "c", "noack", "block", 0, "streams", "s", ">"}, hook.Blocking},
		{[]any{"xreadgroup", "group", "g", "c", []byte("BLOCK"), 0, "streams", "s", ">"}, hook.Blocking},
		{[]any{"xreadgroup", "g", "c", "streams", "s", ">"}, hook.Blocking},
		{[]any{"xreadgroup", "group", "g", "c"}, hook.Blocking},
		{[]any{"xreadgroup", "group", "g"}, hook.Blocking},
		{[]any{"xreadgroup"}, hook.Blocking},
	}
	c := hook.NewClassifier(nil, nil)
	for _, tt := range tests {
		if got, _ := c.Classify(cmdOf(tt.args...), hook.Single); got != tt.want {
			t.Errorf("%v: class %d, want %d", tt.args, got, tt.want)
		}
	}
}

// TestClassify_TypedXRead: the same for what go-redis's own methods make.
func TestClassify_TypedXRead(t *testing.T) {
	c := hook.NewClassifier(nil, nil)
	var got hook.Class
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:0"})
	defer func() { _ = rdb.Close() }()
	rdb.AddHook(onProcess(func(cmd redis.Cmder) { got, _ = c.Classify(cmd, hook.Single) }))
	ctx := context.Background()
	for block, want := range map[time.Duration]hook.Class{-1: hook.Shared, 0: hook.Blocking, time.Second: hook.Blocking} {
		rdb.XRead(ctx, &redis.XReadArgs{Streams: []string{"block", "0"}, Count: 3, Block: block})
		if got != want {
			t.Errorf("XRead with Block %v: class %d, want %d", block, got, want)
		}
		rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "streams", Streams: []string{"block", ">"}, Block: block, NoAck: true})
		if got != want {
			t.Errorf("XReadGroup with Block %v: class %d, want %d", block, got, want)
		}
	}
}

// onProcess is a hook that shows every command and sends none.
type onProcess func(cmd redis.Cmder)

func (f onProcess) DialHook(next redis.DialHook) redis.DialHook { return next }
func (f onProcess) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error { f(cmd); return nil }
}
func (f onProcess) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestClassify_NameForms: a raw command may give its name in any of the forms that go-redis writes as a string.
func TestClassify_NameForms(t *testing.T) {
	name := "BLPOP"
	c := hook.NewClassifier([]string{"getDEL "}, nil)
	for _, form := range []any{"blpop", "BLPOP", "BlPop", []byte("blpop"), []byte("BLPOP"), &name} {
		got, _ := c.Classify(cmdOf(form, "l", 0), hook.Single)
		if got == hook.Shared {
			t.Errorf("%T %v may share a batch", form, form)
		}
	}
	if got, _ := c.Classify(cmdOf("GET", "k"), hook.Single); got != hook.Shared {
		t.Errorf("GET in capitals: class %d, want Shared", got)
	}
	if got, _ := c.Classify(cmdOf("GetDel", "k"), hook.Single); got != hook.Excluded {
		t.Errorf("GetDel, excluded as getDEL: class %d, want Excluded", got)
	}
}

// TestClassify_Lists: WithDirect takes any command out, WithBatched lifts only what is direct for want of knowledge.
func TestClassify_Lists(t *testing.T) {
	ctx := context.Background()
	c := hook.NewClassifier([]string{" Set", "json.set", "both", ""}, []string{"JSON.get", "xyzzy", "blpop", "select", "multi",
		"shutdown", "dbsize", "both", "incr", "mget"})
	tests := []struct {
		cmd  redis.Cmder
		want hook.Class
	}{
		{cmdOf("set", "k", "v"), hook.Excluded},
		{cmdOf("json.set", "k"), hook.Excluded},
		{cmdOf("both"), hook.Excluded},
		{cmdOf("json.get", "k"), hook.Shared},
		{cmdOf("json.del", "k"), hook.Module},
		{cmdOf("xyzzy"), hook.Shared},
		{cmdOf("blpop", "l", 0), hook.Blocking},
		{cmdOf("select", 1), hook.Connection},
		{cmdOf("multi"), hook.Transaction},
		{cmdOf("shutdown"), hook.Admin},
		{cmdOf("dbsize"), hook.FanOut},
		{cmdOf("get", "k"), hook.Shared},
		{redis.NewStringCmd(ctx, "incr", "n"), hook.Shared}, // the user says that the pair fits
		{redis.NewStringCmd(ctx, "decr", "n"), hook.Unknown},
	}
	for _, tt := range tests {
		if got, _ := c.Classify(tt.cmd, hook.Single); got != tt.want {
			t.Errorf("%v as %T: class %d, want %d", tt.cmd.Args(), tt.cmd, got, tt.want)
		}
	}
	if got, _ := c.Classify(cmdOf("mget", "a", "b"), hook.Several); got != hook.FanOut {
		t.Errorf("mget on several nodes: class %d, want FanOut", got)
	}
}

// TestClassify_ReplyTypes: a pair of command and reply type that does not fit must not share a connection's replies,
// and one that depends on its caller's writer or buffer neither.
func TestClassify_ReplyTypes(t *testing.T) {
	ctx := context.Background()
	type embedded struct{ *redis.StringCmd }
	tests := []struct {
		cmd  redis.Cmder
		want hook.Class
	}{
		{redis.NewStringCmd(ctx, "get", "k"), hook.Shared},
		{redis.NewStatusCmd(ctx, "set", "k", "v"), hook.Shared},
		{redis.NewIntCmd(ctx, "incr", "k"), hook.Shared},
		{redis.NewRawCmd(ctx, "get", "k"), hook.Shared},
		{redis.NewIntCmd(ctx, "get", "k"), hook.Unknown},
		{redis.NewStringCmd(ctx, "incr", "k"), hook.Unknown},
		{redis.NewMapStringStringCmd(ctx, "get", "k"), hook.Unknown},
		{embedded{redis.NewStringCmd(ctx, "get", "k")}, hook.Unknown},
		{redis.NewRawWriteToCmd(ctx, &bytes.Buffer{}, "get", "k"), hook.Reader},
		{redis.NewZeroCopyStringCmd(ctx, make([]byte, 8), "get", "k"), hook.Reader},
	}
	c := hook.NewClassifier(nil, nil)
	for _, tt := range tests {
		if got, _ := c.Classify(tt.cmd, hook.Single); got != tt.want {
			t.Errorf("%v as %T: class %d, want %d", tt.cmd.Args(), tt.cmd, got, tt.want)
		}
	}
}

// TestClassify_Allocs: it stands before every command.
func TestClassify_Allocs(t *testing.T) {
	c := hook.NewClassifier([]string{"mycmd"}, []string{"json.get"})
	cmd := redis.NewStringCmd(context.Background(), "get", "k")
	if n := testing.AllocsPerRun(100, func() { c.Classify(cmd, hook.Single) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
