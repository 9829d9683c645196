package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// wentDirect: the commands of the whole act that no batch took, and why.
var wentDirect = step{
	title: "What does not fit a shared pipeline goes direct, and is counted by reason",
	code: []string{
		"rdb.ClientGetName(ctx)",
		"rdb.Set(ctx, key, large, 0)   // too large to share a batch",
		"ap.Stats().Direct",
	},
	run: func(ctx context.Context, g *guide) error {
		// The connection has no name: redis.Nil is the answer.
		if err := g.rdb.ClientGetName(ctx).Err(); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		large := strings.Repeat("x", autopipe.DefaultMaxBatchBytes+1)
		if err := g.rdb.Set(ctx, g.keys.key("large"), large, 0).Err(); err != nil {
			return err
		}
		stats := g.ap.Stats()
		var direct uint64
		for i := range telemetry.NumDirectReasons {
			r := telemetry.DirectReason(i)
			if n := stats.Direct[r.String()]; n > 0 {
				direct += n
				g.s.block(fmt.Sprintf("   %s %-10s ", number(n), r), r.Doc())
			}
		}
		g.s.result(fmt.Sprintf("%s of this act went direct, %s in %s (%.0f each on average).",
			plural(direct, "command"), number(stats.Commands), plural(stats.Batches, "batch"), stats.MeanBatch()))
		return nil
	},
}
