package autopipe_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// Hooks come and go under load, in both orders, while go-redis dials connections in the background and builds a chain
// for each (go-redis 2453, 3868). Batching goes on; a hook before autopipe sees single commands with their time in the
// queue, one behind it sees batches.
func TestLife_HooksAddedUnderLoad(t *testing.T) {
	srv := redistest.Shared(t)
	rdb := srv.Client(t, func(o *redis.Options) { o.MinIdleConns, o.ConnMaxLifetime = 8, 20*time.Millisecond })
	ap := autopipe.New()
	before, behind := newRecorder(), newRecorder()
	var running sync.Map // commands within the hook before
	var outside, behindSeen atomic.Int64
	rdb.AddHook(before)
	rdb.AddHook(hookFuncs{process: func(next redis.ProcessHook) redis.ProcessHook {
		return func(ctx context.Context, cmd redis.Cmder) error {
			running.Store(cmd, true)
			defer running.Delete(cmd)
			return next(ctx, cmd)
		}
	}})

	var replies atomic.Int64
	stop := company(48, func(i int) {
		want := fmt.Sprint("under load ", i)
		if v, err := rdb.Echo(bg, want).Result(); v != want || err != nil {
			t.Errorf("%q, %v; want %q", v, err, want)
		}
		replies.Add(1)
	})
	defer stop()
	more := func() {
		n := replies.Load()
		until(t, "1000 more replies", func() bool { return replies.Load() > n+1000 })
	}
	more()
	rdb.AddHook(ap)
	more()
	rdb.AddHook(behind)
	rdb.AddHook(hookFuncs{pipeline: func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
		return func(ctx context.Context, cmds []redis.Cmder) error {
			for _, cmd := range cmds {
				if cmd.Name() == "echo" {
					behindSeen.Add(1)
					if _, ok := running.Load(autopipe.Unwrap(cmd)); !ok {
						outside.Add(1)
					}
				}
			}
			return next(ctx, cmds)
		}
	}})
	for range 10 {
		more()
		rdb.AddHook(hookFuncs{})
	}
	n := ap.Stats()
	more()
	stop()
	s := ap.Stats()
	if mean := float64(s.Commands-n.Commands) / float64(s.Batches-n.Batches); mean < 1.5 {
		t.Errorf("after the last hook was added the mean batch was %.2f", mean)
	}
	if _, piped := before.counts("echo"); piped != 0 {
		t.Errorf("the hook before autopipe saw %d commands in pipelines", piped)
	}
	if alone, _ := before.counts("echo"); int64(alone) != replies.Load() {
		t.Errorf("the hook before autopipe saw %d of %d commands", alone, replies.Load())
	}
	if _, piped := behind.counts("echo"); piped == 0 || behindSeen.Load() == 0 || outside.Load() != 0 {
		t.Errorf("behind autopipe %d commands came in batches, %d while the hook before was not around them", piped, outside.Load())
	}
	atRest(t, ap)
}

// Hooks may read cmd.Err() before and after next (go-redis 3867); it neither waits nor lies.
func TestLife_HooksReadErr(t *testing.T) {
	srv := redistest.Run(t)
	rdb, ap := srv.Client(t), autopipe.New()
	reader := func() redis.Hook {
		check := func(cmd redis.Cmder, err error) {
			if e := cmd.Err(); e != nil && cmd.Name() != "client" && e.Error() != "WRONGTYPE Operation against a key holding the wrong kind of value" {
				t.Errorf("%v: %v (next returned %v)", cmd.Name(), e, err)
			}
			_ = cmd.String()
		}
		return hookFuncs{
			process: func(next redis.ProcessHook) redis.ProcessHook {
				return func(ctx context.Context, cmd redis.Cmder) error {
					check(cmd, nil)
					err := next(ctx, cmd)
					check(cmd, err)
					return err
				}
			},
			pipeline: func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
				return func(ctx context.Context, cmds []redis.Cmder) error {
					for _, cmd := range cmds {
						check(cmd, nil)
					}
					err := next(ctx, cmds)
					for _, cmd := range cmds {
						check(cmd, err)
						if strings.HasPrefix(cmd.Name(), "lpush") != (cmd.Err() != nil) && cmd.Name() != "client" {
							t.Errorf("after next: %v: %v", cmd.Name(), cmd.Err())
						}
					}
					return err
				}
			},
		}
	}
	rdb.AddHook(reader())
	rdb.AddHook(ap)
	rdb.AddHook(reader())
	rdb.Set(bg, "text", "x", 0)
	many(64, func(i int) {
		ctx, cancel := bg, context.CancelFunc(func() {})
		if i%2 == 0 {
			ctx, cancel = context.WithCancel(bg) // these travel as copies
		}
		defer cancel()
		for range 20 {
			if v, err := rdb.Get(ctx, "text").Result(); v != "x" || err != nil {
				t.Errorf("%q, %v", v, err)
			}
			if err := rdb.LPush(ctx, "text", 1).Err(); err == nil || !strings.HasPrefix(err.Error(), "WRONGTYPE") {
				t.Errorf("LPUSH to a text: %v", err)
			}
		}
	})
	mustShare(t, ap)
}

// One hook value on two clients makes two lanes. Nothing ever crosses from one to the other's database.
func TestLife_SameHookTwoClients(t *testing.T) {
	srv := redistest.Run(t)
	ap := autopipe.New()
	var rdb [2]*redis.Client
	for db := range rdb {
		rdb[db] = srv.Client(t, func(o *redis.Options) { o.DB, o.MinIdleConns, o.ConnMaxLifetime = db+1, 4, 20*time.Millisecond })
		rdb[db].AddHook(ap)
		rdb[db].AddHook(hookFuncs{pipeline: func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
			return func(ctx context.Context, cmds []redis.Cmder) error {
				for _, cmd := range cmds {
					if a := cmd.Args(); len(a) > 2 && a[0] == "set" && a[2] != db {
						t.Errorf("%v in a batch of client %d", a, db)
					}
				}
				return next(ctx, cmds)
			}
		}})
		rdb[db].Set(bg, "db", db, 0)
	}
	many(128, func(i int) {
		db := i % 2
		for range 30 {
			if v, err := rdb[db].Get(bg, "db").Int(); v != db || err != nil {
				t.Errorf("client %d read %d, %v", db, v, err)
			}
			if err := rdb[db].Set(bg, "db", db, 0).Err(); err != nil {
				t.Error(err)
			}
		}
	})
	mustShare(t, ap)
	if s := ap.Stats(); s.Commands != 2+128*60 || s.Outcomes["ok"] != s.Commands {
		t.Errorf("both clients count together: %v", s)
	}
}
