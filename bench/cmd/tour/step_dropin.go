package main

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// dropIn: the calls of a plain client, from many goroutines; every one reads its own write.
var dropIn = step{
	title: fmt.Sprintf("Drop-in: one line, then the usual calls, here in %d goroutines", callers),
	code: []string{
		"rdb.AddHook(autopipe.New())",
		"rdb.Set(ctx, key, value, 0); rdb.Get(ctx, key)   // each its own key",
	},
	run: func(ctx context.Context, g *guide) error {
		before := g.ap.Stats()
		var right atomic.Int64
		var failed firstError
		start := time.Now()
		together(callers, func(i int) {
			key, value := g.keys.key("own", i), strconv.Itoa(i)
			if err := g.rdb.Set(ctx, key, value, 0).Err(); err != nil {
				failed.set(err)
				return
			}
			got, err := g.rdb.Get(ctx, key).Result()
			failed.set(err)
			if err == nil && got == value {
				right.Add(1)
			}
		})
		took := time.Since(start)
		if failed.err != nil {
			return failed.err
		}
		after := g.ap.Stats()
		g.s.result(fmt.Sprintf("%s of %d goroutines read back their own write, in %s.",
			number(int(right.Load())), callers, millis(took)))
		g.s.result(fmt.Sprintf("Their %s took %s.",
			plural(after.Commands-before.Commands, "command"), plural(after.Batches-before.Batches, "round trip")))
		return nil
	},
}
