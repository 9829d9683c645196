package autopipe

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
)

// Hook is the middleware: a redis.Hook for AddHook of Client, ClusterClient, Ring and failover clients. It may be added
// to several clients, each of which then batches by itself. It owns no goroutine and needs no Close.
type Hook struct {
	cfg      config
	pairs    hook.Pairer
	classes  *hook.Classifier
	lanes    laneSet
	calls    sync.Pool // of *single; not global: their channels must not cross from one synctest bubble to another
	windows  sync.Pool // of *copySet
	rows     sync.Pool // of *rows
	count    counters
	waits    *histogram.Histogram // in the queue, sampled
	trips    *histogram.Histogram // of batches; of lone commands, sampled
	events   events
	observed bool
	epoch    time.Time // where the hook's clock begins: durations are smaller than times, and cheaper to read

	// tracking: a client with this hook has client-side caching, by the user's word or because go-redis was seen to
	// switch it on for a new connection. Reads then go directly, because its cache answers single commands only.
	tracking atomic.Bool
}

var _ redis.Hook = (*Hook)(nil)

// New makes a hook. With no options it suits most uses; see the With functions for what can be changed.
func New(opts ...Option) *Hook {
	h := &Hook{
		cfg: newConfig(opts), epoch: time.Now(),
		waits: histogram.New(histogram.Seconds), trips: histogram.New(histogram.Seconds),
	}
	h.tracking.Store(h.cfg.caching)
	h.classes = hook.NewClassifier(h.cfg.direct, h.cfg.batched)
	for _, o := range h.cfg.observers {
		h.events.add(o.Attach(telemetry.Pipe{
			Name:          h.cfg.name,
			MaxBatch:      h.cfg.maxBatch,
			MaxBatchBytes: h.cfg.maxBatchBytes,
			MaxInFlight:   h.cfg.maxInFlight,
			MaxQueue:      h.cfg.maxQueue,
			MaxRetries:    h.cfg.maxRetries,
			Linger:        h.cfg.linger,
			Retry:         h.cfg.retry.String(),
			Gauges:        h.lanes.gauges,
		}))
		h.observed = true
	}
	return h
}

// now is the time on the hook's clock.
func (h *Hook) now() time.Duration { return time.Since(h.epoch) }

// DialHook implements redis.Hook. It marks the errors of the dialer, by which it is known that nothing was sent.
func (h *Hook) DialHook(next redis.DialHook) redis.DialHook {
	h.pairs.Begin()
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			if _, sent := transportCause(err); sent {
				err = dialError{err}
			}
		}
		return conn, err
	}
}

// ProcessHook implements redis.Hook.
func (h *Hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return h.process(next, "", false)
}

func (h *Hook) process(next redis.ProcessHook, node string, routed bool) redis.ProcessHook {
	chain := h.pairs.Process(next)
	switch {
	case chain == nil:
		return func(ctx context.Context, cmd redis.Cmder) error {
			return h.around(ctx, next, node, cmd, telemetry.DirectUnpaired)
		}
	case chain.Setup:
		return func(ctx context.Context, cmd redis.Cmder) error {
			h.noteTracking(cmd)
			return next(ctx, cmd)
		}
	}
	l := &lane{h: h, chain: chain, node: node, routed: routed}
	chain.Owner = l
	if node != "" { // known from the start, as its direct commands are counted under its name too
		l.meet()
	}
	return l.process
}

// ProcessPipelineHook implements redis.Hook. Explicit pipelines and transactions pass unchanged; submitted windows, and
// with WithMergePipelines explicit pipelines too, join batches.
func (h *Hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	chain := h.pairs.Pipeline(next)
	if chain != nil && chain.Setup {
		return func(ctx context.Context, cmds []redis.Cmder) error {
			for _, cmd := range cmds {
				h.noteTracking(cmd)
			}
			return next(ctx, cmds)
		}
	}
	tx := chain != nil && chain.TxPipeline != nil
	if chain == nil || tx {
		return func(ctx context.Context, cmds []redis.Cmder) error {
			return h.pipeline(ctx, next, cmds, tx)
		}
	}
	l := chain.Owner.(*lane)
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if l.routed && len(cmds) == 2 && cmds[0].Name() == "asking" {
			return l.asked(ctx, next, cmds)
		}
		if len(cmds) > 0 && chain.Whole() {
			if s, ok := cmds[0].(*submission); ok {
				if l.topology.Load() == 0 && s.topology != 0 {
					l.topology.Store(s.topology)
				}
				if l.where() != hook.Sticky {
					return l.take(ctx, s, cmds)
				}
			} else if h.cfg.merge && !optedOut(ctx) && l.where() != hook.Sticky {
				if merged, err := l.merge(ctx, cmds); merged {
					return err
				}
			}
		}
		return h.pipeline(ctx, next, cmds, false)
	}
}

// pipeline sends an explicit pipeline or transaction as it is.
func (h *Hook) pipeline(ctx context.Context, next redis.ProcessPipelineHook, cmds []redis.Cmder, tx bool) error {
	size := len(cmds)
	if tx {
		size = max(size-2, 0) // without MULTI and EXEC
	}
	h.count.pipelines.Add(1)
	h.count.pipelined.Add(uint64(size))
	if !h.observed {
		return next(ctx, cmds)
	}
	start := time.Now()
	err := next(ctx, cmds)
	h.events.pipeline(ctx, &telemetry.Pipeline{
		Pipe: h.cfg.name, Tx: tx, Size: size, Start: start, Duration: time.Since(start), Err: err,
	})
	return err
}

// noteTracking looks for CLIENT TRACKING ON among the commands that set a connection up.
func (h *Hook) noteTracking(cmd redis.Cmder) {
	if args := cmd.Args(); cmd.Name() == "client" && len(args) > 2 {
		if sub, _ := args[1].(string); strings.EqualFold(sub, "tracking") {
			h.tracking.Store(true)
		}
	}
}

var directReason = [hook.NumClasses]telemetry.DirectReason{
	hook.Blocking:    telemetry.DirectBlocking,
	hook.Connection:  telemetry.DirectConnection,
	hook.Transaction: telemetry.DirectTransaction,
	hook.FanOut:      telemetry.DirectFanOut,
	hook.Admin:       telemetry.DirectAdmin,
	hook.Module:      telemetry.DirectModule,
	hook.Reader:      telemetry.DirectReader,
	hook.Unknown:     telemetry.DirectUnknown,
	hook.Excluded:    telemetry.DirectExcluded,
}
