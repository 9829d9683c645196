package autopipe_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// TestUnits_Times: however a command came into a batch, observers learn when it was made and how long it queued.
func TestUnits_Times(t *testing.T) {
	const held = 20 * time.Millisecond
	endless := context.Background()
	may, cancel := context.WithCancel(endless)
	defer cancel()
	two := func(p redis.Pipeliner) error { p.Incr(endless, "times"); p.Incr(endless, "times"); return nil }
	for name, do := range map[string]func(rdb *redis.Client){
		"Submit": func(rdb *redis.Client) {
			for range 2 {
				autopipe.Submit(endless, rdb, redis.NewIntCmd(endless, "incr", "times"))
			}
		},
		"Window": func(rdb *redis.Client) {
			w := autopipe.NewWindow(rdb)
			_ = two(w)
			w.Submit(endless)
		},
		"Window that is waited for": func(rdb *redis.Client) { _, _ = autopipe.NewWindow(rdb).Pipelined(endless, two) },
		"merged":                    func(rdb *redis.Client) { _, _ = rdb.Pipelined(endless, two) },
		"merged, context may end":   func(rdb *redis.Client) { _, _ = rdb.Pipelined(may, two) },
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var seen []telemetry.Command
			begin := time.Now()
			rdb, ap, _, open := gated(t, autopipe.WithMergePipelines(), autopipe.WithObserver(observer(func(telemetry.Pipe) telemetry.Events {
				return telemetry.Events{BatchEnd: func(_ context.Context, b *telemetry.Batch) {
					mu.Lock()
					defer mu.Unlock()
					for _, c := range b.Commands {
						if c.Name == "incr" {
							seen = append(seen, c)
						}
					}
				}}
			})))
			before := time.Now()
			go do(rdb)
			until(t, "two commands to queue", func() bool { return ap.Stats().Queued == 2 })
			time.Sleep(held)
			open()
			atRest(t, ap)
			mu.Lock()
			defer mu.Unlock()
			if len(seen) != 2 {
				t.Fatalf("%d commands in batches, want 2", len(seen))
			}
			for _, c := range seen {
				if c.Start.Before(before) || c.Wait < held || c.Wait > time.Since(begin) || c.Duration < c.Wait || c.Duration > time.Since(begin) {
					t.Errorf("made %v after the test began, queued %v, took %v", c.Start.Sub(begin), c.Wait, c.Duration)
				}
			}
		})
	}
}
