package main

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/bench/load"
)

// approach is one way to issue the same commands: a row of Act 2's table. The first is what the others are compared to.
type approach struct {
	name     string
	ordering string // what a caller can rely on
	open     func(*server) contender
}

// contender is an approach at work on one server.
type contender struct {
	worker func(key, value string) load.Worker // of one goroutine
	batch  func() float64                      // commands per batch so far; nil if it has no batches
	close  func()
}

const perGoroutine = "per goroutine"

var approaches = []approach{
	{"plain client", perGoroutine, openPlain},
	{"hooked client", perGoroutine, openHooked},
	{"Submit, read later", "none", openSubmit},
	{"Window, read later", perGoroutine, openWindow()},
	{"Window, unordered", "in a window", openWindow(autopipe.WithUnordered())},
}

// deferred is how many commands the deferred approaches submit before they read the first reply. miniredis would take
// seconds for what 500 goroutines then have under way.
func deferred(srv *server) int {
	if srv.embedded {
		return 20
	}
	return 200
}

func openPlain(srv *server) contender {
	rdb := srv.client()
	return contender{worker: setter(rdb), close: func() { _ = rdb.Close() }}
}

func openHooked(srv *server) contender {
	rdb := srv.client()
	ap := autopipe.New()
	rdb.AddHook(ap)
	return contender{
		worker: setter(rdb),
		batch:  func() float64 { return ap.Stats().MeanBatch() },
		close:  func() { _ = rdb.Close() },
	}
}

// setter makes workers that SET one command at a time and read its reply: the call shape of a plain client.
func setter(rdb *redis.Client) func(key, value string) load.Worker {
	return func(key, value string) load.Worker { return &setWorker{rdb, key, value} }
}

type setWorker struct {
	rdb        *redis.Client
	key, value string
}

// Do implements load.Worker.
func (w *setWorker) Do(ctx context.Context) (int, error) {
	if err := w.rdb.Set(ctx, w.key, w.value, 0).Err(); err != nil {
		return 0, err
	}
	return 1, nil
}

// openSubmit sends single commands without waiting, and reads the replies of a window of them later.
func openSubmit(srv *server) contender {
	rdb := srv.client()
	ap := autopipe.New(autopipe.WithBlockOnFull()) // 500 goroutines x 200 commands are more than a queue holds
	rdb.AddHook(ap)
	return contender{
		worker: func(key, value string) load.Worker {
			return &submitWorker{rdb: rdb, key: key, value: value, n: deferred(srv)}
		},
		batch: func() float64 { return ap.Stats().MeanBatch() },
		close: func() { _ = rdb.Close() },
	}
}

type submitWorker struct {
	rdb        *redis.Client
	key, value string
	n          int
	futures    []*autopipe.Future[*redis.StatusCmd]
}

// Do implements load.Worker.
func (w *submitWorker) Do(ctx context.Context) (int, error) {
	w.futures = w.futures[:0]
	for range w.n {
		w.futures = append(w.futures, autopipe.Submit(ctx, w.rdb, redis.NewStatusCmd(ctx, "set", w.key, w.value)))
	}
	for _, f := range w.futures {
		if _, err := f.Wait(ctx); err != nil {
			return 0, err
		}
	}
	return w.n, nil
}

// openWindow collects commands, submits them together and reads the replies later.
func openWindow(opts ...autopipe.WindowOption) func(*server) contender {
	return func(srv *server) contender {
		rdb := srv.client()
		ap := autopipe.New(autopipe.WithBlockOnFull())
		rdb.AddHook(ap)
		return contender{
			worker: func(key, value string) load.Worker {
				return &windowWorker{win: autopipe.NewWindow(rdb, opts...), key: key, value: value, n: deferred(srv)}
			},
			batch: func() float64 { return ap.Stats().MeanBatch() },
			close: func() { _ = rdb.Close() },
		}
	}
}

type windowWorker struct {
	win        *autopipe.Window
	key, value string
	n          int
}

// Do implements load.Worker.
func (w *windowWorker) Do(ctx context.Context) (int, error) {
	for range w.n {
		w.win.Set(ctx, w.key, w.value, 0)
	}
	if err := w.win.Submit(ctx).Wait(ctx); err != nil {
		return 0, err
	}
	return w.n, nil
}
