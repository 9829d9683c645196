// Command compare measures autopipe and its rivals side by side: in alternating
// rounds of one process, so that what changes on the machine changes for all.
//
//	go run ./cmd/compare              the standard plan, some 20 minutes
//	go run ./cmd/compare -quick       a look, under two minutes
//	go run ./cmd/compare -full        everything, hours
//	go run ./cmd/compare -callers 1,64 -mix get,mixed -size 1024 -delay 1ms
//	go run ./cmd/compare -cluster only     the part on a cluster of three masters
//	go run ./cmd/compare -render results/quick.json     pages and plots anew, no measuring
//
// See bench/README.md for the rules and for the files it leaves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/measure"
	"github.com/goautopipe/redis-autopipe/bench/report"
	"github.com/goautopipe/redis-autopipe/bench/target"
)

func main() {
	target.ServeLink()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "compare:", err)
		}
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.render != "" {
		return rerender(o)
	}
	srv, err := target.Open(o.addr)
	if err != nil {
		return err
	}
	defer srv.Close()
	session := measure.Open(srv, o.pool)
	defer session.Close()
	if o.cancellable {
		// One deadline for all, far away: clients must watch it all the same.
		c, cancel := context.WithTimeout(context.Background(), 24*time.Hour)
		defer cancel()
		session.Context = c
	}
	version, err := session.Server().Version(ctx)
	if err != nil {
		return err
	}
	c := &comparison{
		plan: o.plan, variants: o.variants, session: session, base: o.base, out: os.Stdout, progress: newProgress(os.Stderr),
		results: &report.Results{
			Plan: o.plan.Name, Started: time.Now(), Machine: report.ThisMachine(version),
			Settings: report.Settings{Pool: o.pool, Cancellable: o.cancellable, OwnServer: srv.Own()},
		},
	}
	err = c.run(ctx)
	if err == nil && o.plan.Cluster != nil {
		// Whatever the other clients do while idle shall not disturb it.
		if err = session.Close(); err == nil {
			err = c.cluster(ctx, o.clusterAddrs, o.pool, session.Context)
		}
	}
	c.results.Took = time.Since(c.results.Started)
	if len(c.results.Measured) == 0 && c.results.Cluster == nil {
		return err
	}
	// An interrupted comparison is kept as well, and says so.
	if e := save(c.results, o.dir, os.Stdout); err == nil {
		err = e
	}
	return err
}

// rerender writes everything but the JSON again.
func rerender(o *options) error {
	f, err := os.Open(o.render)
	if err != nil {
		return err
	}
	defer f.Close()
	res, err := report.ReadJSON(f)
	if err != nil {
		return err
	}
	for _, sc := range res.Scenarios() {
		if err := res.Table(os.Stdout, sc, o.base); err != nil {
			return err
		}
	}
	if c := res.Cluster; c != nil {
		for _, sc := range c.Scenarios() {
			if err := c.Table(os.Stdout, sc, "plain"); err != nil {
				return err
			}
		}
		if err := c.PauseTable(os.Stdout); err != nil {
			return err
		}
	}
	fmt.Print(report.TableNotes)
	return save(res, o.dir, os.Stdout)
}
