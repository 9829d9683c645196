package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// callers is how many goroutines the steps of Act 1 use.
const callers = 500

// guide is what the steps of Act 1 share: one client with the hook, and what it was seen to do.
type guide struct {
	s    *screen
	rdb  *redis.Client
	ap   *autopipe.Hook
	seen *recorder
	keys *keyspace
}

// step is one stop of the tour: the lines that a user writes, and what they really did.
type step struct {
	title string
	code  []string
	run   func(context.Context, *guide) error
}

var steps = []step{dropIn, blocking, errorsApart, lastBatches, wentDirect}

// act1 walks through the steps.
func act1(ctx context.Context, s *screen, srv *server, keys *keyspace) error {
	g := &guide{s: s, rdb: srv.client(), seen: &recorder{}, keys: keys}
	defer g.rdb.Close()
	g.ap = autopipe.New(autopipe.WithObserver(g.seen))
	g.rdb.AddHook(g.ap)

	s.blank()
	s.print(s.style(bold, "Act 1: what it does") + "\n")
	for i, st := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.heading(i+1, st.title)
		s.code(st.code...)
		if err := st.run(ctx, g); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

// together runs f on n goroutines that start at the same moment, and returns when all are done.
func together(n int, f func(i int)) {
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-gate
			f(i)
		})
	}
	close(gate)
	wg.Wait()
}

// firstError keeps the first of the errors that many goroutines meet.
type firstError struct {
	once sync.Once
	err  error
}

func (f *firstError) set(err error) {
	if err != nil {
		f.once.Do(func() { f.err = err })
	}
}
