package main

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// errorsApart: in one wave of commands one is an error and one a miss; each is its own caller's affair.
var errorsApart = step{
	title: "An error and a miss, in the same batches as hits, hurt nobody else",
	code: []string{
		`rdb.Incr(ctx, "a-list"); rdb.Get(ctx, "missing")   // one goroutine each`,
		fmt.Sprintf("rdb.Get(ctx, key)                                  // the other %d", callers-2),
	},
	run: func(ctx context.Context, g *guide) error {
		const wrong, miss = callers / 3, callers / 2 // somewhere in the middle of the wave
		list := g.keys.key("a-list")
		if err := g.rdb.RPush(ctx, list, "item").Err(); err != nil {
			return err
		}
		g.seen.reset()
		var hits atomic.Int64
		var errWrong, errMiss error
		var failed firstError
		together(callers, func(i int) {
			switch i {
			case wrong:
				errWrong = g.rdb.Incr(ctx, list).Err()
			case miss:
				errMiss = g.rdb.Get(ctx, g.keys.key("missing")).Err()
			default:
				got, err := g.rdb.Get(ctx, g.keys.key("own", i)).Result()
				failed.set(err)
				if err == nil && got == strconv.Itoa(i) {
					hits.Add(1)
				}
			}
		})
		if failed.err != nil {
			return failed.err
		}
		g.s.result(fmt.Sprintf("%d of %d hits returned their own value.", hits.Load(), callers-2))
		g.s.result("INCR: " + text(errWrong))
		g.s.result("miss: " + text(errMiss))
		g.s.result(fmt.Sprintf("The two travelled with %s and %s other commands.",
			company(g, telemetry.OutcomeServerError), company(g, telemetry.OutcomeNil)))
		return nil
	},
}

func text(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// company is how many others were in the batch of the command that ended so.
func company(g *guide, o telemetry.Outcome) string {
	for _, b := range g.seen.last(keep) {
		if b.outcomes[o] > 0 {
			return number(b.size - 1)
		}
	}
	return "no"
}
