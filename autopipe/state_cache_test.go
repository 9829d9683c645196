package autopipe_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// With client-side caching on, reads that the cache can answer do not reach the server, and a write elsewhere is seen.
// The hook knows its client only from what go-redis sends through it.
func TestState_ClientSideCache(t *testing.T) {
	cached := func(o *redis.Options) {
		o.Protocol, o.ClientSideCacheConfig = 3, &redis.ClientSideCacheConfig{MaxEntries: 1000}
		o.PoolSize = 1 // "after use" then means that no tracked connection is set up any more
	}
	for name, add := range map[string]func(rdb *redis.Client){
		"hook first": func(rdb *redis.Client) { rdb.AddHook(autopipe.New()) },
		"hook after use": func(rdb *redis.Client) {
			rdb.Get(bg, "a")
			rdb.AddHook(autopipe.New(autopipe.WithClientSideCache()))
		},
		"attached after use": func(rdb *redis.Client) { rdb.Get(bg, "a"); autopipe.Attach(rdb) },
		"hook with linger": func(rdb *redis.Client) {
			rdb.AddHook(autopipe.New(autopipe.WithLinger(time.Millisecond), autopipe.WithClientSideCache()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := redistest.Run(t)
			serverDo(t, srv, "MSET", "a", "1", "b", "2", "c", "3", "d", "4")
			rdb := srv.Client(t, cached)
			add(rdb)
			stop := company(8, func(int) { rdb.Incr(bg, "n") }) // lone reads would find the cache anyway
			defer stop()
			read := func() {
				many(64, func(i int) {
					for j := range 16 {
						k := (i + j) % 4
						if v, err := rdb.Get(bg, string(rune('a'+k))).Int(); v != k+1 || err != nil {
							t.Errorf("GET %c: %d, %v", 'a'+k, v, err)
						}
					}
				})
			}
			read() // fills the cache
			if err := srv.ResetStats(); err != nil {
				t.Fatal(err)
			}
			read()
			if n := serverCalls(t, srv, "get"); n != 0 {
				t.Errorf("%d of 1024 cached reads reached the server", n)
			}
			if hits := rdb.CSCStats().Hits; hits < 1024 {
				t.Errorf("%d hits", hits)
			}
			serverDo(t, srv, "SET", "a", "7")
			until(t, "the write is seen", func() bool { return rdb.Get(bg, "a").Val() == "7" })
		})
	}
}
