package rival

import (
	"context"
	"io"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/redis/go-redis/v9"
)

// The windowed face: each caller fills a Window, submits it, and reads the results.
func init() {
	register(Variant{
		Name: "autopipe-window", Title: "autopipe, Window of 200", Ours: true, Windowed: true,
		Open: func(s Setup) (Client, error) {
			rdb := redis.NewClient(s.goRedis())
			// 2000 callers with windows of 200 are more than the queue holds: they shall wait
			// for room, not fail. (go-redis's queue has no limit unless one is set.)
			ap := autopipe.New(autopipe.WithBlockOnFull(), autopipe.WithMaxQueue(1<<20)) // go-redis has no limit
			rdb.AddHook(ap)
			return &windowed{client: rdb, close: []io.Closer{rdb}, report: func() any { return ap.Stats() }}, nil
		},
	})
}

// Windowed makes a client of one that has the hook: its callers use an
// autopipe.Window each.
func Windowed(client autopipe.Pipeliner, closers ...io.Closer) Client {
	return &windowed{client: client, close: closers}
}

type windowed struct {
	client autopipe.Pipeliner
	close  []io.Closer
	report func() any
}

func (c *windowed) Worker(w *load.Work, id int) load.Worker {
	return &windowWorker{win: autopipe.NewWindow(c.client), value: w.Value, pick: w.Picker(id), window: w.Window}
}

func (c *windowed) Close() error { return closeAll(c.close) }

func (c *windowed) Report() any {
	if c.report == nil {
		return nil
	}
	return c.report()
}

type windowWorker struct {
	win    *autopipe.Window
	value  string
	pick   load.Picker
	window int
}

func (w *windowWorker) Do(ctx context.Context) (int, error) {
	for range w.window {
		if key, read := w.pick.Next(); read {
			w.win.Get(ctx, key)
		} else {
			w.win.Set(ctx, key, w.value, 0)
		}
	}
	p := w.win.Submit(ctx)
	// Wait's error is the first command's: each is asked for its own.
	_ = p.Wait(ctx)
	return countGood(p.Cmds())
}
