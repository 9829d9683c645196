package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	getters    = 200                   // goroutines beside the blocking command
	getsEach   = 5                     // commands of each
	popTimeout = 2 * time.Second       // of BLPOP, should nobody push
	popHead    = 50 * time.Millisecond // for BLPOP to be at the server before the others start
)

// blocking: BLPOP goes on a connection of its own, so the commands beside it do not wait with it.
var blocking = step{
	title: fmt.Sprintf("A blocking command goes direct; %s GETs beside it do not wait", number(getters*getsEach)),
	code:  []string{fmt.Sprintf("rdb.BLPop(ctx, %.0f*time.Second, ", popTimeout.Seconds()) + `"jobs")   // waits for a push that comes last`},
	run: func(ctx context.Context, g *guide) error {
		list, key := g.keys.key("jobs"), g.keys.key("own", 0)
		type reply struct {
			items []string
			err   error
		}
		popped := make(chan reply, 1)
		start := time.Now()
		go func() {
			items, err := g.rdb.BLPop(ctx, popTimeout, list).Result()
			popped <- reply{items, err}
		}()
		time.Sleep(popHead)

		took := make([]time.Duration, getters*getsEach)
		var failed firstError
		together(getters, func(i int) {
			for n := range getsEach {
				t := time.Now()
				failed.set(g.rdb.Get(ctx, key).Err())
				took[i*getsEach+n] = time.Since(t)
			}
		})
		waiting := len(popped) == 0
		failed.set(g.rdb.RPush(ctx, list, "job-1").Err())
		r := <-popped
		held := time.Since(start)
		failed.set(r.err)
		if failed.err != nil {
			return failed.err
		}
		slices.Sort(took)
		while := "while BLPOP waited"
		if !waiting {
			while = "but BLPOP had returned early"
		}
		g.s.result(fmt.Sprintf("%s GETs %s: median %s, slowest %s.",
			number(len(took)), while, millis(took[len(took)/2]), millis(took[len(took)-1])))
		g.s.result(fmt.Sprintf("Then RPUSH: BLPOP returned %q after %s.", r.items[len(r.items)-1], millis(held)))
		return nil
	},
}
