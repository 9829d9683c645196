package rival

import (
	"context"
	"io"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/redis/go-redis/v9"
)

// deferred is a client whose commands return at once and wait when they are read:
// each caller issues a window, then reads it.
type deferred struct {
	face  Face
	close []io.Closer
}

// Deferred makes a client of a face whose calls return at once and whose results
// wait when they are read.
func Deferred(f Face, closers ...io.Closer) Client { return &deferred{f, closers} }

func (c *deferred) Worker(w *load.Work, id int) load.Worker {
	return &deferredWorker{face: c.face, value: w.Value, pick: w.Picker(id), sent: make([]redis.Cmder, 0, w.Window)}
}

func (c *deferred) Close() error { return closeAll(c.close) }

type deferredWorker struct {
	face  Face
	value string
	pick  load.Picker
	sent  []redis.Cmder // its capacity is the window
}

func (w *deferredWorker) Do(ctx context.Context) (int, error) {
	w.sent = w.sent[:0]
	for range cap(w.sent) {
		if key, read := w.pick.Next(); read {
			w.sent = append(w.sent, w.face.Get(ctx, key))
		} else {
			w.sent = append(w.sent, w.face.Set(ctx, key, w.value, 0))
		}
	}
	return countGood(w.sent)
}

// countGood reads every command's outcome, and counts those that succeeded.
func countGood(cmds []redis.Cmder) (n int, err error) {
	for _, c := range cmds {
		if e := c.Err(); e != nil {
			err = e
		} else {
			n++
		}
	}
	return n, err
}

// pipelined is a client whose callers build pipelines by hand: the ceiling, for
// those who have 200 commands at hand.
type pipelined struct{ rdb pipeliner }

type pipeliner interface {
	Pipeline() redis.Pipeliner
	Close() error
}

func (c *pipelined) Worker(w *load.Work, id int) load.Worker {
	return &pipelineWorker{rdb: c.rdb, value: w.Value, pick: w.Picker(id), window: w.Window}
}

func (c *pipelined) Close() error { return c.rdb.Close() }

type pipelineWorker struct {
	rdb    pipeliner
	value  string
	pick   load.Picker
	window int
}

func (w *pipelineWorker) Do(ctx context.Context) (int, error) {
	pipe := w.rdb.Pipeline()
	for range w.window {
		if key, read := w.pick.Next(); read {
			pipe.Get(ctx, key)
		} else {
			pipe.Set(ctx, key, w.value, 0)
		}
	}
	// Exec's error is the first command's: each is asked for its own.
	cmds, _ := pipe.Exec(ctx)
	return countGood(cmds)
}

func init() {
	register(Variant{
		Name: "pipeline", Title: "go-redis, hand-written pipeline of 200", Windowed: true,
		// Some goroutines with deep pipelines reach the ceiling; more only queue up for
		// connections.
		MaxCallers: 8,
		Open: func(s Setup) (Client, error) {
			return &pipelined{redis.NewClient(s.goRedis())}, nil
		},
	})
}
