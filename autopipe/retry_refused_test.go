package autopipe_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// The server says that it did not run a command.

var refusals = map[string]string{
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
	for cause, text := range refusals {
		everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
			positions := []int{0}
			if batched {
				positions = []int{0, 2, 4}
			}
			r := newRig(t, autopipe.WithRetryBackoff(100*time.Microsecond, time.Millisecond))
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

// TestRetry_ScriptRefusal: such a text from a script may be its own, after it did part of its work.
func TestRetry_ScriptRefusal(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	const body = "redis.call('INCR', KEYS[1]); return {err='%s'}"
	for cause, text := range refusals {
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
