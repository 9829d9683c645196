package bench

import (
	"context"
	"testing"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/rival"
	"github.com/redis/go-redis/v9"
)

const someCallers = 100

// The typed future face: reading each result before the next command is sent, and
// reading after a window of 200.
func BenchmarkFutureFace(b *testing.B) {
	for _, x := range []struct {
		name   string
		window int
	}{{"InOrder", 1}, {"Window200", 200}} {
		b.Run(x.name, func(b *testing.B) {
			work := func(b *testing.B) *load.Work {
				w := work(b, load.Set, 16, someCallers)
				w.Window = x.window
				return w
			}
			b.Run("autopipe", func(b *testing.B) { perCommand(b, oursBySubmit(b), work(b), someCallers) })
			// go-redis's results are futures themselves on its deferred face.
			b.Run("go-redis", func(b *testing.B) { perCommand(b, client(b, "goredis-async"), work(b), someCallers) })
		})
	}
}

// Submit hands over a command that the caller made and returns at once: windows of
// 200, then the futures are waited for. Beside it the whole window in one submission.
func BenchmarkAutoPipelineSubmit(b *testing.B) {
	w := func(b *testing.B) *load.Work { return work(b, load.Set, 16, someCallers) }
	b.Run("autopipe", func(b *testing.B) { perCommand(b, oursBySubmit(b), w(b), someCallers) })
	b.Run("autopipe-window", func(b *testing.B) { perCommand(b, client(b, "autopipe-window"), w(b), someCallers) })
	b.Run("go-redis", func(b *testing.B) {
		ap, err := plain(b).AsyncAutoPipeline()
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { ap.Close() })
		perCommand(b, submitter(func(ctx context.Context, key, value string) future {
			return goRedisFuture{ap.Submit(ctx, redis.NewStatusCmd(ctx, "set", key, value))}
		}), w(b), someCallers)
	})
}

func plain(b *testing.B) *redis.Client {
	b.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr(b), PoolSize: pool, PipelinePoolSize: pool})
	b.Cleanup(func() { rdb.Close() })
	return rdb
}

func oursBySubmit(b *testing.B) rival.Client {
	b.Helper()
	rdb := plain(b)
	rdb.AddHook(autopipe.New())
	return submitter(func(ctx context.Context, key, value string) future {
		return ourFuture{autopipe.Submit(ctx, rdb, redis.NewStatusCmd(ctx, "set", key, value))}
	})
}

// future of either library.
type future interface{ wait(context.Context) error }

type ourFuture struct {
	*autopipe.Future[*redis.StatusCmd]
}

func (f ourFuture) wait(ctx context.Context) error { _, err := f.Wait(ctx); return err }

type goRedisFuture struct{ redis.AutoFuture }

func (f goRedisFuture) wait(context.Context) error { return f.Wait() }

// submitter is a client whose callers submit SETs; it knows how one is.
type submitter func(ctx context.Context, key, value string) future

var _ rival.Client = submitter(nil)

func (s submitter) Close() error { return nil }

func (s submitter) Worker(w *load.Work, id int) load.Worker {
	return &submitWorker{s, w.Value, w.Picker(id), make([]future, 0, w.Window)}
}

type submitWorker struct {
	submit submitter
	value  string
	pick   load.Picker
	sent   []future
}

func (w *submitWorker) Do(ctx context.Context) (n int, err error) {
	w.sent = w.sent[:0]
	for range cap(w.sent) {
		key, _ := w.pick.Next()
		w.sent = append(w.sent, w.submit(ctx, key, w.value))
	}
	for _, f := range w.sent {
		if e := f.wait(ctx); e != nil {
			err = e
		} else {
			n++
		}
	}
	return n, err
}
