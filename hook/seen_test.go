package hook_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
)

// TestClassify_Seen: whatever a classifier has seen before, it classifies a command as if it were the first. The neighbours
// differ in name, in type, or only in the arguments that decide.
func TestClassify_Seen(t *testing.T) {
	ctx := context.Background()
	row := []redis.Cmder{
		cmdOf("get", "k"), cmdOf("get", "other"), redis.NewStringCmd(ctx, "get", "k"), redis.NewIntCmd(ctx, "get", "k"),
		redis.NewStatusCmd(ctx, "set", "k", "v"), redis.NewStringCmd(ctx, "set", "k", "v", "get"), redis.NewBoolCmd(ctx, "set", "k", "v"),
		cmdOf("xread", "streams", "s", 0), cmdOf("xread", "block", 1, "streams", "s", 0),
		redis.NewXStreamSliceCmd(ctx, "xread", "streams", "s", 0), redis.NewXStreamSliceCmd(ctx, "xread", "block", 1, "streams", "s", 0),
		redis.NewStringSliceCmd(ctx, "zrange", "z", 0, 1), redis.NewStringSliceCmd(ctx, "zrange", "z", 0, 1, "withscores"),
		redis.NewZSliceCmd(ctx, "zrange", "z", 0, 1, "withscores"), redis.NewZSliceCmd(ctx, "zrange", "z", 0, 1),
		redis.NewStringCmd(ctx, "lpop", "l"), redis.NewStringCmd(ctx, "lpop", "l", 2),
		redis.NewStringCmd(ctx, "object", "encoding", "k"), redis.NewIntCmd(ctx, "object", "encoding", "k"), redis.NewIntCmd(ctx, "object", "refcount", "k"),
		cmdOf("mget", "a", "b"), cmdOf("mget", "a"), redis.NewSliceCmd(ctx, "mget", "a", "b"), redis.NewIntCmd(ctx, "del", "a"), redis.NewIntCmd(ctx, "del", "a", "b"),
		cmdOf("select", 1), cmdOf("multi"), cmdOf("ping"), cmdOf("json.get", "k"), cmdOf("mine", "k"), cmdOf("nosuch"), cmdOf(),
		cmdOf("eval", "return 1", 0), cmdOf("blpop", "l", 0), cmdOf("incr", "n"), redis.NewIntCmd(ctx, "incr", "n"),
	}
	for _, lists := range [][2][]string{{}, {{"get", "incr"}, {"json.get", "mine"}}} {
		fresh := func() *hook.Classifier { return hook.NewClassifier(lists[0], lists[1]) }
		for _, where := range []hook.Topology{hook.Several, hook.Single, hook.Sticky} {
			for _, first := range row {
				for _, second := range row {
					c := fresh()
					for i, cmd := range []redis.Cmder{first, second, second, first} {
						class, info := c.Classify(cmd, where)
						if want, wantInfo := fresh().Classify(cmd, where); class != want || info != wantInfo {
							t.Fatalf("%v, number %d of a row of %v and %v: class %d, want %d", cmd.Args(), i, first.Args(), second.Args(), class, want)
						}
					}
				}
			}
		}
	}
}
