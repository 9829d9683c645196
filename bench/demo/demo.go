package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/bench/push"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// Demo is a running load.
type Demo struct {
	cfg  Config
	log  *slog.Logger
	tele *telemetries
	own  *ownMetrics

	orders        *redistest.Proxy
	nodes         [2]*redistest.Proxy
	pipes         []*pipe
	cache, intake *pipe
	bare          *redis.Client
	scenarios     []scenario

	epoch  time.Time
	phase  atomic.Int32
	cycles atomic.Int64 // completed
	server *http.Server
	addr   string

	wg     sync.WaitGroup
	stop   context.CancelFunc
	failed chan error
	once   func() error   // shut
	ends   []func() error // in the order of opening
}

// closeTimeout is how long Close waits for the last exports.
const closeTimeout = 5 * time.Second

// Start begins a load that runs until Close. It fails if Redis does not answer.
func Start(ctx context.Context, cfg Config, log *slog.Logger) (_ *Demo, err error) {
	d := &Demo{cfg: cfg, log: log, epoch: time.Now(), failed: make(chan error, 1), stop: func() {}}
	d.once = sync.OnceValue(d.shut)
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if d.tele, err = newTelemetries(ctx, cfg, log); err != nil {
		return nil, err
	}
	d.own = newOwnMetrics(d.tele.registry)
	if cfg.Pyroscope != "" {
		s, err := push.Start(push.Config{URL: cfg.Pyroscope})
		if err != nil {
			return nil, err
		}
		d.onClose(s.Stop)
	}
	if err = d.open(); err != nil {
		return nil, err
	}
	if err = d.openScenarios(); err != nil {
		return nil, err
	}
	if err = d.bare.Ping(ctx).Err(); err != nil {
		return nil, fmt.Errorf("no answer from Redis at %s: %w", cfg.Redis[0], err)
	}
	d.heal()
	for _, p := range d.pipes {
		if p == d.intake { // its queue would not take them
			continue
		}
		if err = prepare(ctx, p); err != nil {
			return nil, err
		}
	}
	if err = d.serve(ctx); err != nil {
		return nil, err
	}
	d.run()
	return d, nil
}

func (d *Demo) serve(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", d.cfg.Listen)
	if err != nil {
		return err
	}
	d.addr = l.Addr().String()
	d.server = &http.Server{Handler: d.handler(), ReadHeaderTimeout: 10 * time.Second}
	d.start(func() {
		if err := d.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			d.failed <- err
		}
	})
	return nil
}

func (d *Demo) run() {
	var ctx context.Context
	ctx, d.stop = context.WithCancel(context.Background())
	d.callers(ctx)
	for _, f := range []func(context.Context){d.cycle, d.rare, d.crowd, d.compare} {
		d.start(func() { f(ctx) })
	}
}

// Addr is where the HTTP server listens.
func (d *Demo) Addr() string { return d.addr }

// Cycles is how often the load has been through all its phases.
func (d *Demo) Cycles() int64 { return d.cycles.Load() }

// Failed gets an error if the demo cannot go on.
func (d *Demo) Failed() <-chan error { return d.failed }

// Close ends the load, sends what telemetry is left, and returns when nothing of the demo runs any more. It may be called
// more than once.
func (d *Demo) Close() error { return d.once() }

func (d *Demo) shut() error {
	d.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var errs []error
	if d.server != nil {
		errs = append(errs, d.server.Shutdown(ctx))
	}
	d.wg.Wait()
	if d.tele != nil {
		errs = append(errs, d.tele.close(ctx)) // before the clients: it reads their pools
	}
	for _, end := range slices.Backward(d.ends) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

func (d *Demo) onClose(f func() error) { d.ends = append(d.ends, f) }

// start runs f in a goroutine that Close waits for.
func (d *Demo) start(f func()) { d.wg.Go(f) }
