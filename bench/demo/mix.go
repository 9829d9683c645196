package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// keys of a pipe: items that exist for the most part, a counter, and a text that is no number.
const items = 1000

func (p *pipe) item(r *rand.Rand) string {
	return fmt.Sprintf("demo:%s:item:%d", p.name, r.IntN(items))
}
func (p *pipe) count() string { return "demo:" + p.name + ":count" }
func (p *pipe) text() string  { return "demo:" + p.name + ":text" }

// mix is one operation of what applications do. The outcome of each command is autopipe's to tell; we send the next.
func mix(ctx context.Context, p *pipe, r *rand.Rand) {
	switch k := r.IntN(1000); {
	case k < 480:
		p.rdb.Get(ctx, p.item(r))
	case k < 700:
		p.rdb.Set(ctx, p.item(r), p.value, time.Hour)
	case k < 850:
		p.rdb.Incr(ctx, p.count())
	case k < 880:
		p.rdb.Expire(ctx, p.item(r), time.Hour)
	case k < 900:
		p.rdb.HIncrBy(ctx, "demo:"+p.name+":hash", "visits", 1)
	case k < 910:
		p.rdb.Del(ctx, p.item(r)) // so that some reads miss; a batch of its own on a cluster
	case k < 915:
		p.rdb.Incr(ctx, p.text()) // an error reply
	case k < 930: // a caller in a hurry
		ctx, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(800))*time.Microsecond)
		defer cancel()
		p.rdb.Get(ctx, p.item(r))
	case k < 960:
		submit(ctx, p, r)
	case k < 985:
		window(ctx, p, r)
	default:
		pipeline(ctx, p, r)
	}
}

// submit sends two commands before it waits for the first.
func submit(ctx context.Context, p *pipe, r *rand.Rand) {
	a := autopipe.Submit(ctx, p.rdb, redis.NewStringCmd(ctx, "get", p.item(r)))
	b := autopipe.Submit(ctx, p.rdb, redis.NewIntCmd(ctx, "incr", p.count()))
	_, _ = a.Wait(ctx)
	_, _ = b.Wait(ctx)
}

// window has commands that keep their order and share batches.
func window(ctx context.Context, p *pipe, r *rand.Rand) {
	w := autopipe.NewWindow(p.rdb)
	for range 8 + r.IntN(24) {
		w.Set(ctx, p.item(r), p.value, time.Hour)
	}
	w.Incr(ctx, p.count())
	_ = w.Submit(ctx).Wait(ctx)
}

// pipeline is the application's own, or a transaction.
func pipeline(ctx context.Context, p *pipe, r *rand.Rand) {
	fill := func(pipe redis.Pipeliner) error {
		pipe.Incr(ctx, p.count())
		pipe.Expire(ctx, p.count(), time.Hour)
		return nil
	}
	if r.IntN(3) == 0 {
		_, _ = p.rdb.TxPipelined(ctx, fill)
	} else {
		_, _ = p.rdb.Pipelined(ctx, fill)
	}
}

// prepare writes what the operations expect.
func prepare(ctx context.Context, p *pipe) error {
	if err := p.rdb.Set(ctx, p.text(), "not a number", 0).Err(); err != nil {
		return fmt.Errorf("pipe %s: %w", p.name, err)
	}
	w := autopipe.NewWindow(p.rdb, autopipe.WithUnordered())
	for i := range items {
		if i%10 > 0 {
			w.Set(ctx, fmt.Sprintf("demo:%s:item:%d", p.name, i), p.value, time.Hour)
		}
		if i%100 == 99 {
			if err := w.Submit(ctx).Wait(ctx); err != nil {
				return fmt.Errorf("pipe %s: %w", p.name, err)
			}
		}
	}
	return nil
}
