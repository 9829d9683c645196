package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// Explicit pipelines, passed on as they are or merged, and commands whose callers keep them out of batches.

// pipelineLog is an observer of explicit pipelines.
type pipelineLog struct {
	mu   sync.Mutex
	seen []telemetry.Pipeline
}

func (p *pipelineLog) Attach(telemetry.Pipe) telemetry.Events {
	return telemetry.Events{Pipeline: func(_ context.Context, e *telemetry.Pipeline) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.seen = append(p.seen, *e)
	}}
}

// A pipeline of the user's passes in one piece, in its order, with its own commands, and is reported.
func TestState_ExplicitPipelineUnchanged(t *testing.T) {
	obs := &pipelineLog{}
	rdb, ap := hookedOn(t, redistest.Run(t), nil, autopipe.WithObserver(obs))
	var mine sync.Map // the commands that arrived behind autopipe
	rdb.AddHook(hookFuncs{pipeline: func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
		return func(ctx context.Context, cmds []redis.Cmder) error {
			for i, cmd := range cmds {
				mine.Store(cmd, [2]int{i, len(cmds)})
			}
			return next(ctx, cmds)
		}
	}})
	stop := company(16, func(int) { rdb.Get(bg, "company") })
	defer stop()
	const pipes, size = 20, 7
	many(pipes, func(i int) {
		cmds, err := rdb.Pipelined(bg, func(p redis.Pipeliner) error {
			for j := range size {
				p.Echo(bg, fmt.Sprint(i, j))
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
	if _, err := rdb.TxPipelined(bg, func(p redis.Pipeliner) error { p.Incr(bg, "n"); return nil }); err != nil {
		t.Error(err)
	}
	stop()
	mustShare(t, ap)
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

func TestMergePipelines(t *testing.T) {
	ctx := context.Background()
	rdb, ap := hooked(t, autopipe.WithMergePipelines())
	rdb.RPush(ctx, t.Name()+"-list", "x")
	before := ap.Stats()
	many(100, func(g int) {
		for i := range 20 {
			key := fmt.Sprint(t.Name(), g)
			ctx := ctx
			if g%2 == 0 {
				c, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				ctx = c
			}
			var set *redis.StatusCmd
			var get, miss *redis.StringCmd
			cmds, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
				set = p.Set(ctx, key, i, 0)
				get = p.Get(ctx, key)
				miss = p.Get(ctx, t.Name()+"-list")
				return nil
			})
			if len(cmds) != 3 || !redis.HasErrorPrefix(err, "WRONGTYPE") || err != miss.Err() ||
				set.Val() != "OK" || get.Val() != fmt.Sprint(i) {
				t.Errorf("pipeline: %v, %v", cmds, err)
			}
		}
	})
	s := ap.Stats()
	if s.Pipelines != before.Pipelines || s.Commands-before.Commands != 100*20*3 || s.MeanBatch() < 6 {
		t.Errorf("stats %v: pipelines were not merged", s)
	}
	// These pass as they are.
	if _, err := rdb.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, t.Name()); return nil }); err != nil {
		t.Error(err)
	}
	if _, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "select", "0"); p.Ping(ctx); return nil }); err != nil {
		t.Error(err)
	}
	if n := ap.Stats().Pipelines - s.Pipelines; n != 2 {
		t.Errorf("%d pipelines passed unchanged, want 2", n)
	}
}

func TestMergePipelines_ContextEnds(t *testing.T) {
	rdb, ap, g, open := gated(t, autopipe.WithMergePipelines())
	ctx, cancel := context.WithCancel(bg)
	got := make(chan error)
	run := func() {
		_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, t.Name()); p.Incr(ctx, t.Name()); return nil })
		got <- err
	}
	go run()
	until(t, "queued", func() bool { return ap.Stats().Queued == 2 })
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("queued pipeline: %v", err)
	}
	open()
	atRest(t, ap)
	if err := rdb.Get(bg, t.Name()).Err(); err != redis.Nil {
		t.Errorf("a cancelled pipeline ran: %v", err)
	}
	// In flight.
	for len(g.arrived) > 0 {
		<-g.arrived
	}
	g.shut()
	ctx, cancel = context.WithCancel(bg)
	go run()
	<-g.arrived
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("pipeline in flight: %v", err)
	}
	g.release()
	atRest(t, ap)
	if n := ap.Stats().Outcomes["cancelled"]; n != 4 {
		t.Errorf("%d cancelled, want 4", n)
	}
}

func TestDirectContext(t *testing.T) {
	rdb, ap := hooked(t)
	ctx, cancel := context.WithTimeout(autopipe.Direct(context.Background()), time.Minute)
	defer cancel()
	if err := rdb.Set(ctx, t.Name(), "v", 0).Err(); err != nil {
		t.Error(err)
	}
	if s := ap.Stats(); s.Direct["excluded"] != 1 || s.Commands != 0 {
		t.Errorf("stats %v, want one excluded", s)
	}
}
