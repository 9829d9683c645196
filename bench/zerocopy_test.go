package bench

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/redis/go-redis/v9"
)

// bufferFace is what the buffer commands need.
type bufferFace interface {
	Set(ctx context.Context, key string, value any, expiration time.Duration) *redis.StatusCmd
	Get(ctx context.Context, key string) *redis.StringCmd
	SetFromBuffer(ctx context.Context, key string, buf []byte) *redis.StatusCmd
	GetToBuffer(ctx context.Context, key string, buf []byte) *redis.ZeroCopyStringCmd
}

// Pairs of Set and Get of large values, with the regular commands and with those
// that use the caller's buffer. Look at B/op: it depends on no machine.
func BenchmarkAutoPipelineZeroCopy(b *testing.B) {
	open := func(b *testing.B) *redis.Client {
		rdb := redis.NewClient(&redis.Options{Addr: addr(b), PoolSize: pool, PipelinePoolSize: pool})
		b.Cleanup(func() { rdb.Close() })
		return rdb
	}
	faces := []struct {
		name string
		open func(b *testing.B) bufferFace
	}{
		{"autopipe", func(b *testing.B) bufferFace {
			rdb := open(b)
			rdb.AddHook(autopipe.New())
			return rdb
		}},
		{"go-redis", func(b *testing.B) bufferFace {
			ap, err := open(b).AutoPipeline()
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { ap.Close() })
			return ap
		}},
	}
	for _, size := range []int{4 << 10, 64 << 10} {
		for _, f := range faces {
			b.Run(kib(size)+"/Regular/"+f.name, func(b *testing.B) { pairs(b, f.open(b), size, regularPair) })
			b.Run(kib(size)+"/Buffer/"+f.name, func(b *testing.B) { pairs(b, f.open(b), size, bufferPair) })
		}
	}
}

func regularPair(f bufferFace, key string, value, _ []byte) error {
	if err := f.Set(ctx, key, value, 0).Err(); err != nil {
		return err
	}
	return f.Get(ctx, key).Err()
}

func bufferPair(f bufferFace, key string, value, room []byte) error {
	if err := f.SetFromBuffer(ctx, key, value).Err(); err != nil {
		return err
	}
	return f.GetToBuffer(ctx, key, room).Err()
}

// pairs issues b.N of them through a few callers, each with its own key and buffers.
func pairs(b *testing.B, f bufferFace, size int, pair func(f bufferFace, key string, value, room []byte) error) {
	b.ReportAllocs()
	b.SetBytes(int64(2 * size))
	n := min(16, b.N)
	type caller struct {
		key         string
		value, room []byte
	}
	callers := make([]caller, n)
	for i := range callers {
		callers[i] = caller{kib(size) + string(rune('a'+i)), make([]byte, size), make([]byte, size)}
		if err := pair(f, callers[i].key, callers[i].value, callers[i].room); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	var all sync.WaitGroup
	for i, c := range callers {
		share := b.N / n
		if i < b.N%n {
			share++
		}
		all.Go(func() {
			for range share {
				if err := pair(f, c.key, c.value, c.room); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
