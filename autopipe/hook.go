package autopipe

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// Hook is the middleware: a redis.Hook for AddHook of Client, ClusterClient, Ring and failover clients. It may be added
// to several clients, each of which then batches by itself. It owns no goroutine and needs no Close.
type Hook struct {
	cfg      config
	pairs    hook.Pairer
	classes  *hook.Classifier
	lanes    laneSet
	calls    sync.Pool // of *call; not global: their channels must not cross from one synctest bubble to another
	count    counters
	events   events
	observed bool

	// tracking: go-redis has switched client-side caching on for a connection of a client with this hook. Reads
	// then go directly, because its cache answers single commands only.
	tracking atomic.Bool
}

var _ redis.Hook = (*Hook)(nil)

// New makes a hook. With no options it suits most uses; see the With functions for what can be changed.
func New(opts ...Option) *Hook {
	h := &Hook{cfg: newConfig(opts)}
	h.classes = hook.NewClassifier(h.cfg.direct, h.cfg.batched)
	for _, o := range h.cfg.observers {
		h.events.add(o.Attach(telemetry.Pipe{
			Name:          h.cfg.name,
			MaxBatch:      h.cfg.maxBatch,
			MaxBatchBytes: h.cfg.maxBatchBytes,
			MaxInFlight:   h.cfg.maxInFlight,
			MaxQueue:      h.cfg.maxQueue,
			Gauges:        h.lanes.gauges,
		}))
		h.observed = true
	}
	return h
}

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
	chain := h.pairs.Process(next)
	switch {
	case chain == nil:
		return func(ctx context.Context, cmd redis.Cmder) error {
			return h.direct(ctx, next, "", cmd, telemetry.DirectUnpaired)
		}
	case chain.Setup:
		return func(ctx context.Context, cmd redis.Cmder) error {
			h.noteTracking(cmd)
			return next(ctx, cmd)
		}
	}
	l := &lane{h: h, chain: chain}
	return l.process
}

// ProcessPipelineHook implements redis.Hook. Explicit pipelines and transactions pass unchanged.
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
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.count.pipelines.Add(1)
		h.count.pipelined.Add(uint64(len(cmds)))
		if !h.observed {
			return next(ctx, cmds)
		}
		start := time.Now()
		err := next(ctx, cmds)
		h.events.pipeline(ctx, &telemetry.Pipeline{
			Pipe: h.cfg.name, Tx: tx, Size: len(cmds), Start: start, Duration: time.Since(start), Err: err,
		})
		return err
	}
}

// noteTracking looks for CLIENT TRACKING ON among the commands that set a connection up.
func (h *Hook) noteTracking(cmd redis.Cmder) {
	if args := cmd.Args(); cmd.Name() == "client" && len(args) > 2 {
		if sub, _ := args[1].(string); strings.EqualFold(sub, "tracking") {
			h.tracking.Store(true)
		}
	}
}

// direct sends a command on its own, as go-redis would without us, retries included.
func (h *Hook) direct(ctx context.Context, next redis.ProcessHook, node string, cmd redis.Cmder, reason telemetry.DirectReason) error {
	outcome := telemetry.OutcomeTransportError // until next returns: it may panic
	var start time.Time
	if h.observed {
		start = time.Now()
	}
	var err error
	defer func() {
		h.count.direct[reason].Add(1)
		h.count.outcome[outcome].Add(1)
		if h.observed {
			h.events.direct(ctx, &telemetry.Direct{
				Pipe: h.cfg.name, Node: node, Name: cmd.Name(), Reason: reason,
				Start: start, Duration: time.Since(start), Outcome: outcome, Err: err,
			})
		}
	}()
	err = next(ctx, cmd)
	switch {
	case err == nil:
		outcome = telemetry.OutcomeOK
	case errors.Is(err, redis.Nil):
		outcome = telemetry.OutcomeNil
	case isReply(err):
		outcome = telemetry.OutcomeServerError
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		outcome = telemetry.OutcomeCancelled
	}
	return err
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

// process is the way of one command through the hook.
func (l *lane) process(ctx context.Context, cmd redis.Cmder) error {
	l.once.Do(func() { l.topology = hook.CallerTopology() })
	class, info := l.h.classes.Classify(cmd, l.topology)
	size, form := 0, hook.Form(0)
	var reason telemetry.DirectReason
	switch {
	case class != hook.Shared:
		reason = directReason[class]
	case !l.chain.Whole(): // a wrapper around our hook forwarded only some of its methods
		reason = telemetry.DirectUnpaired
	case l.h.tracking.Load() && info != nil && info.Has(command.ReadOnly):
		reason = telemetry.DirectCacheable
	default:
		size, form = hook.Measure(cmd.Args())
		switch {
		case form&hook.Unencodable != 0, form&hook.UserCode != 0 && !command.CanClone(cmd):
			reason = telemetry.DirectEncoder
		case size > l.h.cfg.maxBatchBytes:
			reason = telemetry.DirectLarge
		default:
			return l.do(ctx, cmd, info, size, form)
		}
	}
	return l.h.direct(ctx, l.chain.Process, l.node, cmd, reason)
}

// do sends one command through the lane, again if it has to be, and returns its error.
func (l *lane) do(ctx context.Context, cmd redis.Cmder, info *command.Info, size int, form hook.Form) error {
	if err := ctx.Err(); err != nil {
		return l.drop(ctx, cmd, telemetry.OutcomeCancelled, false, time.Time{}, err)
	}
	c, err := l.h.newCall(ctx, cmd, info, size, form)
	if err != nil {
		l.h.count.direct[telemetry.DirectEncoder].Add(1)
		return err
	}
	for {
		admitted := c.admitted
		if err := l.send(c); err != nil {
			var left *leftError
			if errors.As(err, &left) {
				return l.drop(ctx, cmd, telemetry.OutcomeCancelled, left.inFlight, admitted, left.cause)
			}
			l.h.free(c)
			return l.drop(ctx, cmd, telemetry.OutcomeRejected, false, admitted, err)
		}
		if !c.again {
			break
		}
		wait := l.h.backoff(c.attempt)
		if l.h.observed {
			l.h.events.retry(ctx, &telemetry.Retry{
				Pipe: l.h.cfg.name, Node: l.node, Name: cmd.Name(), Cause: c.cause, Attempt: c.attempt + 1, Backoff: wait,
			})
		}
		if err := pause(ctx, wait); err != nil {
			l.h.free(c)
			return l.drop(ctx, cmd, telemetry.OutcomeCancelled, false, admitted, err)
		}
		c.rearm()
	}
	if f := c.fault; f != nil {
		l.h.free(c)
		f.repeat()
	}
	c.copyBack()
	err = c.err
	l.h.free(c)
	return err
}
