package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/stat"
)

const (
	minRounds = 5                      // each approach is measured once in each
	maxTurn   = 2 * time.Second        // of one approach: a longer duration makes more rounds
	warmUp    = 150 * time.Millisecond // opens the connections; not counted
	valueSize = 32                     // bytes
)

// row is what was measured of one approach, one number per round.
type row struct {
	approach
	rates  []float64 // executed commands per second
	perIn  []float64 // commands per read of the server; empty if the server does not count its reads
	failed uint64
	err    error // the first failure
	batch  float64
}

// act2 measures all approaches, in rounds in which each has its turn, so that a noisy moment hits all alike.
func act2(ctx context.Context, s *screen, srv *server, keys *keyspace, cfg config) ([]row, error) {
	s.blank()
	s.title("Act 2: how fast, with " + plural(cfg.goroutines, "goroutine") + " that SET and wait for the reply")

	names := make([]string, cfg.goroutines)
	for i := range names {
		names[i] = keys.key("load", i)
	}
	rows := make([]row, len(approaches))
	at := make([]contender, len(approaches))
	for i, a := range approaches {
		rows[i].approach = a
		at[i] = a.open(srv)
		defer at[i].close()
		s.progress("warming up: " + a.name)
		measure(ctx, at[i], names, warmUp)
	}
	counts := newReadCounter(srv)
	defer counts.close()

	rounds := max(minRounds, int(cfg.duration/maxTurn)|1)
	for r := range rounds {
		for turn := range rows {
			i := (turn + r) % len(rows) // who is first changes: what comes second may find a warmer machine
			s.progress("measuring " + bar(r*len(rows)+turn, rounds*len(rows)) + " " + soFar(rows))
			reads := counts.read(ctx)
			res := measure(ctx, at[i], names, cfg.duration/time.Duration(rounds))
			if err := ctx.Err(); err != nil {
				s.endProgress()
				return nil, err
			}
			rows[i].add(res, counts.read(ctx)-reads)
			if res.Executed == 0 {
				s.endProgress()
				return nil, fmt.Errorf("%s executed no command in %v: %w", rows[i].name, res.Elapsed.Round(time.Millisecond), res.Err)
			}
		}
		s.done(fmt.Sprintf("round %d of %d: %s", r+1, rounds, latest(rows)))
	}
	s.endProgress()
	for i := range rows {
		if at[i].batch != nil {
			rows[i].batch = at[i].batch()
		}
	}
	report(s, srv, rows, cfg)
	return rows, nil
}

// measure lets every goroutine issue commands until the time is over. Only commands whose reply was read count, and
// the time runs until the last of them is.
func measure(ctx context.Context, c contender, keys []string, d time.Duration) *load.Result {
	runtime.GC() // nobody pays for the garbage of the one before
	value := strings.Repeat("x", valueSize)
	return load.Run(ctx, load.Options{
		Callers:   len(keys),
		Duration:  d,
		NewWorker: func(id int) load.Worker { return c.worker(keys[id], value) },
	})
}

func (r *row) add(res *load.Result, reads float64) {
	r.rates = append(r.rates, res.Rate())
	if reads > 1 {
		r.perIn = append(r.perIn, float64(res.Executed)/(reads-1)) // one read was our own INFO
	}
	r.failed += res.Failed
	if r.err == nil {
		r.err = res.Err
	}
}

// readCounter reads how often the server has read from a socket. A batch that a client writes at once causes one.
type readCounter struct{ rdb *redis.Client }

func newReadCounter(srv *server) readCounter { return readCounter{srv.client()} }

func (c readCounter) close() { _ = c.rdb.Close() }

// read returns 0 if the server does not tell, as miniredis or a Redis before 6.
func (c readCounter) read(ctx context.Context) float64 {
	fields, err := info(ctx, c.rdb, "stats")
	if err != nil {
		return 0
	}
	var n float64
	if _, err := fmt.Sscan(fields["total_reads_processed"], &n); err != nil {
		return 0
	}
	return n
}

// bar shows how much is done.
func bar(done, all int) string {
	const length = 10
	n := length * done / all
	return "[" + strings.Repeat("#", n) + strings.Repeat("-", length-n) + "]"
}

// latest lists, in the order of the table, the rates of the round that has just ended, soFar the medians of all rounds
// yet.
func latest(rows []row) string {
	return list(rows, func(rates []float64) float64 { return rates[len(rates)-1] })
}

func soFar(rows []row) string { return list(rows, stat.Median) }

func list(rows []row, pick func([]float64) float64) string {
	var parts []string
	for _, r := range rows {
		if len(r.rates) > 0 {
			parts = append(parts, number(int(pick(r.rates)/1000)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "thousands/s " + strings.Join(parts, ", ")
}
