package rival

import (
	"context"
	"io"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/redis/go-redis/v9"
)

// Options of every go-redis client here: the same pool for all, and otherwise what
// a user gets who sets nothing.
func (s Setup) goRedis() *redis.Options {
	return &redis.Options{
		Addr:             s.Addr,
		PoolSize:         s.Pool,
		PipelinePoolSize: s.Pool,
		ReadTimeout:      timeout,
		WriteTimeout:     timeout,
		PoolTimeout:      timeout,
	}
}

// Face is what go-redis's clients and its AutoPipeliner have in common and the load
// needs.
type Face interface {
	Set(ctx context.Context, key string, value any, expiration time.Duration) *redis.StatusCmd
	Get(ctx context.Context, key string) *redis.StringCmd
}

// single is a client whose callers issue one command and wait for it.
type single struct {
	face   Face
	close  []io.Closer // in this order
	report func() any
}

// Single makes a client of a face whose calls wait for the reply. Close closes the
// closers in their order.
func Single(f Face, closers ...io.Closer) Client { return &single{face: f, close: closers} }

func (c *single) Worker(w *load.Work, id int) load.Worker {
	return &singleWorker{c.face, w.Value, w.Picker(id)}
}

func (c *single) Close() error { return closeAll(c.close) }

func (c *single) Report() any {
	if c.report == nil {
		return nil
	}
	return c.report()
}

func closeAll(cs []io.Closer) (err error) {
	for _, c := range cs {
		if e := c.Close(); err == nil {
			err = e
		}
	}
	return err
}

type singleWorker struct {
	face  Face
	value string
	pick  load.Picker
}

func (w *singleWorker) Do(ctx context.Context) (int, error) {
	key, read := w.pick.Next()
	var err error
	if read {
		err = w.face.Get(ctx, key).Err()
	} else {
		err = w.face.Set(ctx, key, w.value, 0).Err()
	}
	if err != nil {
		return 0, err
	}
	return 1, nil
}

func init() {
	register(Variant{
		Name: "plain", Title: "go-redis, plain client",
		Open: func(s Setup) (Client, error) {
			rdb := redis.NewClient(s.goRedis())
			return Single(rdb, rdb), nil
		},
	})
}
