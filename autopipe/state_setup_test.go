package autopipe_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
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
			rdb, ap := hookedOn(t, srv, func(o *redis.Options) { o.Password = "secret"; opt(o); set = *o })
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			defer cancel()
			const callers = 60
			key := "setup " + name
			many(callers, func(int) {
				if err := rdb.Incr(ctx, key).Err(); err != nil {
					t.Error(err)
				}
			})
			if n, err := rdb.Get(ctx, key).Int(); n != callers || err != nil {
				t.Errorf("%d, %v after %d INCRs", n, err, callers)
			}
			// Ask from outside which database the commands went to.
			inDB(t, srv, "secret", set.DB, key)
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

// inDB checks that a key is in the given database.
func inDB(t *testing.T, srv *redistest.Server, password string, db int, key string) {
	t.Helper()
	rdb := srv.Client(t, func(o *redis.Options) { o.DB, o.Password = db, password })
	if n, err := rdb.Exists(bg, key).Result(); n != 1 || err != nil {
		t.Errorf("%q is not in DB %d: %v", key, db, err)
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
			rdb, ap := hookedOn(t, srv, opt)
			many(500, func(i int) {
				ctx, cancel := bg, context.CancelFunc(func() {})
				if i%2 == 0 { // half of them may leave
					ctx, cancel = context.WithTimeout(bg, time.Minute)
				}
				defer cancel()
				for j := range 4 {
					want := fmt.Sprint(name, i, j)
					if v, err := rdb.Echo(ctx, want).Result(); v != want || err != nil {
						t.Errorf("%q, %v; want %q", v, err, want)
					}
				}
			})
			mustShare(t, ap)
			atRest(t, ap)
		})
	}
}
