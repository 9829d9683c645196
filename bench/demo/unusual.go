package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// unusual are the commands that do not queue, one for each reason.
func (d *Demo) unusual() []func(ctx context.Context, p *pipe) {
	large := text(40 << 10)
	outside := d.pipes[0].hook.ProcessHook(d.bare.Process)
	return []func(context.Context, *pipe){
		func(ctx context.Context, p *pipe) { p.rdb.Do(ctx, "blpop", "demo:"+p.name+":list", "0.01") }, // blocking
		func(ctx context.Context, p *pipe) { p.rdb.Do(ctx, "client", "id") },                          // connection
		func(ctx context.Context, p *pipe) { // transaction: WATCH
			_ = p.rdb.Watch(ctx, func(tx *redis.Tx) error {
				_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error { pipe.Incr(ctx, p.count()); return nil })
				return err
			}, p.count())
		},
		func(ctx context.Context, p *pipe) { p.rdb.DBSize(ctx) },                                  // fanout
		func(ctx context.Context, p *pipe) { p.rdb.Do(ctx, "slowlog", "len") },                    // admin
		func(ctx context.Context, p *pipe) { p.rdb.Do(ctx, "json.get", p.text()) },                // module, which is not there
		func(ctx context.Context, p *pipe) { p.rdb.Do(ctx, "demo.hello") },                        // unknown, also to Redis
		func(ctx context.Context, p *pipe) { p.rdb.Set(ctx, p.text()+":large", large, 0) },        // large
		func(ctx context.Context, p *pipe) { p.rdb.Set(ctx, p.text(), struct{}{}, 0) },            // encoder
		func(ctx context.Context, p *pipe) { p.rdb.GetToBuffer(ctx, p.text(), make([]byte, 64)) }, // reader
		func(ctx context.Context, p *pipe) { p.rdb.Get(autopipe.Direct(ctx), p.text()) },          // excluded
		func(ctx context.Context, _ *pipe) { _ = outside(ctx, redis.NewStatusCmd(ctx, "ping")) },  // unpaired
	}
}

// rare sends one unusual command after another through the pipes that have a load, and reads through the cache.
func (d *Demo) rare(ctx context.Context) {
	kinds := d.unusual()
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; sleep(ctx, 5*time.Millisecond); i++ {
		if p := d.pipes[i/len(kinds)%len(d.pipes)]; p.share > 0 {
			kinds[i%len(kinds)](ctx, p)
		}
		d.cache.rdb.Get(ctx, d.cache.item(r)) // cacheable
		if i%20 == 0 {
			d.cache.rdb.Set(ctx, d.cache.item(r), d.cache.value, time.Hour)
		}
	}
}

// crowd overruns the pipe "intake" once in a while: commands that block hold the one connection of each of its pools, and
// more callers come than its queue has room for.
func (d *Demo) crowd(ctx context.Context) {
	p, block := d.intake, []any{"blpop", "demo:intake:list", "0.05"}
	for sleep(ctx, time.Second) {
		var wg sync.WaitGroup
		wg.Go(func() { p.rdb.Do(ctx, block...) })
		wg.Go(func() {
			_, _ = p.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error { pipe.Do(ctx, block...); return nil })
		})
		sleep(ctx, 5*time.Millisecond)
		many(40, func(i int) { p.rdb.Set(ctx, fmt.Sprintf("demo:intake:item:%d", i), p.value, time.Hour) })
		wg.Wait()
	}
}

// many runs f in n goroutines and waits for them.
func many(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
