package payload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/bench/target"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"
)

// codec is one way to and from bytes.
type codec struct {
	name      string
	marshal   func(Message) ([]byte, error)
	unmarshal func([]byte, Message) error
}

var codecs = []codec{
	{"standard",
		func(m Message) ([]byte, error) { return proto.Marshal(m) },
		func(b []byte, m Message) error { return proto.Unmarshal(b, m) }},
	{"vtproto", Message.MarshalVT, func(b []byte, m Message) error { return m.UnmarshalVT(b) }},
}

// some messages to take turns with: making one each time would be measured.
func some(k Kind) []Message {
	rng := rand.New(rand.NewPCG(38, 1))
	out := make([]Message, 1024)
	for i := range out {
		out[i] = k.Random(rng)
	}
	return out
}

func encoded(b *testing.B, k Kind) [][]byte {
	b.Helper()
	var out [][]byte
	for _, m := range some(k) {
		raw, err := proto.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, raw)
	}
	return out
}

// marshal reports the mean length as B/serial.
func marshal(b *testing.B, k Kind) {
	for _, c := range codecs {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			messages, size, i := some(k), 0, 0
			for b.Loop() {
				raw, err := c.marshal(messages[i%len(messages)])
				if err != nil {
					b.Fatal(err)
				}
				size += len(raw)
				i++
			}
			b.ReportMetric(float64(size)/float64(i), "B/serial")
		})
	}
}

func unmarshal(b *testing.B, k Kind) {
	for _, c := range codecs {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			raw, size, i := encoded(b, k), 0, 0
			for b.Loop() {
				r := raw[i%len(raw)]
				if err := c.unmarshal(r, k.New()); err != nil {
					b.Fatal(err)
				}
				size += len(r)
				i++
			}
			b.ReportMetric(float64(size)/float64(i), "B/serial")
		})
	}
}

// concurrencies at which the Redis benchmarks run. One is what the original bencher
// measures.
var concurrencies = []int{1, 16, 256, 2000}

// stored is what the Redis benchmarks work on: the same keys, with a message each.
type stored struct {
	keys     []string
	messages []Message
}

// each runs op on the plain client and on one with the hook, at every concurrency.
// The keys hold messages beforehand.
func each(b *testing.B, k Kind, op func(rdb *redis.Client, s *stored, i int) error) {
	srv, err := target.Open("")
	if err != nil {
		b.Skipf("no Redis: %v", err)
	}
	defer srv.Close()
	open := func() *redis.Client {
		return redis.NewClient(&redis.Options{Addr: srv.Addr(), PoolSize: 100, PipelinePoolSize: 100})
	}
	plain, hooked := open(), open()
	defer plain.Close()
	defer hooked.Close()
	hooked.AddHook(autopipe.New())

	s := &stored{messages: some(k)}
	for i, raw := range encoded(b, k) {
		s.keys = append(s.keys, fmt.Sprintf("%s:%d", k.Name, i))
		if err := plain.Set(ctx, s.keys[i], raw, 0).Err(); err != nil {
			b.Fatal(err)
		}
	}
	for _, n := range concurrencies {
		for _, c := range []struct {
			name string
			rdb  *redis.Client
		}{{"plain", plain}, {"autopipe", hooked}} {
			b.Run(fmt.Sprintf("%s/callers=%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				share(b, n, func(i int) error { return op(c.rdb, s, i%len(s.keys)) })
			})
		}
	}
}

var ctx = context.Background()

// share b.N operations among n goroutines. Each knows its share from the start:
// asking a common counter would be paid per operation.
func share(b *testing.B, n int, op func(i int) error) {
	var all sync.WaitGroup
	for g := range min(n, b.N) {
		count := b.N / n
		if g < b.N%n {
			count++
		}
		all.Go(func() {
			for i := range count {
				if err := op(g*31 + i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// redisSet encodes a message and stores it.
func redisSet(b *testing.B, k Kind) {
	each(b, k, func(rdb *redis.Client, s *stored, i int) error {
		raw, err := s.messages[i].MarshalVT()
		if err != nil {
			return err
		}
		return rdb.Set(ctx, s.keys[i], raw, 0).Err()
	})
}

// redisGet reads a message and decodes it.
func redisGet(b *testing.B, k Kind) {
	each(b, k, func(rdb *redis.Client, s *stored, i int) error {
		raw, err := rdb.Get(ctx, s.keys[i]).Bytes()
		if err != nil {
			return err
		}
		return k.New().UnmarshalVT(raw)
	})
}
