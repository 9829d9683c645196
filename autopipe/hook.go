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
	"github.com/goautopipe/redis-autopipe/internal/command"
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

// process is the way of one command through the hook.
//
// Callers wait in this frame, and hundreds of them do: all that is not needed while they wait is done in frames that are
// gone by then. Each cache line of stack less is one less that a processor has to fetch when a caller goes on.
func (l *lane) process(ctx context.Context, cmd redis.Cmder) error {
	c, err := l.admit(ctx, cmd)
	if c == nil {
		return err
	}
	queued, err := l.send(c)
	switch {
	case !queued:
	case ctx.Done() == nil:
		<-c.done
	default:
		err = l.wait(c)
	}
	return l.finish(c, err)
}

// admit makes a call for a command that may share a batch. Others it sends directly, and returns how they ended.
func (l *lane) admit(ctx context.Context, cmd redis.Cmder) (*single, error) {
	if l.topology.Load() == 0 {
		l.locate(hook.CallerTopology())
	}
	if s, ok := cmd.(*submission); ok {
		if l.where() != hook.Sticky {
			return nil, l.take(ctx, s, s.unit.cmd[:])
		}
		cmd = s.Cmder // a Conn is one goroutine's, which may close it next: as on a client without the hook
	}
	class, info := l.classify(cmd)
	size, form, reason, shared := l.fit(cmd, class, info)
	if shared && optedOut(ctx) {
		reason, shared = telemetry.DirectExcluded, false
	}
	if l.routed && upkeep(cmd) {
		return nil, l.chain.Process(ctx, cmd)
	}
	if !shared {
		return nil, l.direct(ctx, cmd, info, reason)
	}
	if err := ctx.Err(); err != nil {
		return nil, l.drop(ctx, cmd, telemetry.OutcomeCancelled, false, 0, err)
	}
	// Whoever has a Conn or Tx may close it as soon as its command has returned, and go-redis does not let a Close meet a
	// command on its way. So there the caller stays until the reply, as it would without us.
	mayLeave := ctx.Done() != nil && l.where() != hook.Sticky
	c, err := l.h.newCall(ctx, cmd, info, size, form, mayLeave)
	if err != nil {
		return nil, l.unencodable(ctx, cmd, err)
	}
	start := l.now()
	if c.leaves {
		start = l.h.now() // for the error that it may return
	}
	c.start, c.admitted = start, start
	return c, nil
}

func (l *lane) classify(cmd redis.Cmder) (hook.Class, *command.Info) {
	return l.h.classes.Classify(cmd, l.where())
}

// fit measures a command and says whether it may share a batch, and if not, why.
func (l *lane) fit(cmd redis.Cmder, class hook.Class, info *command.Info) (size int, form hook.Form, why telemetry.DirectReason, shared bool) {
	size, form = hook.Measure(cmd.Args())
	switch {
	case class != hook.Shared:
		return size, form, directReason[class], false
	case !l.chain.Whole(): // a wrapper around our hook forwarded only some of its methods
		return size, form, telemetry.DirectUnpaired, false
	case l.h.tracking.Load() && info != nil && info.Has(command.ReadOnly):
		return size, form, telemetry.DirectCacheable, false
	case form&hook.Unencodable != 0, form&hook.UserCode != 0 && !command.CanClone(cmd):
		return size, form, telemetry.DirectEncoder, false
	case size > l.h.cfg.maxBatchBytes/largePart:
		return size, form, telemetry.DirectLarge, false
	}
	return size, form, 0, true
}

// finish returns the command's error when its call is settled or has failed with err, after it was sent again if it has to
// be.
func (l *lane) finish(c *single, err error) error {
	for err == nil && c.again {
		if err = l.pauseAgain(c); err != nil {
			break
		}
		var queued bool
		if queued, err = l.send(c); queued {
			err = l.wait(c)
		}
	}
	if err != nil {
		return l.failed(c, err)
	}
	f := c.fault
	c.copyBack()
	err = c.err
	l.h.free(c)
	if f != nil {
		f.repeat()
	}
	return err
}

// failed ends a call that was left behind, refused, or given up between two sendings, and counts it.
func (l *lane) failed(c *single, err error) error {
	ctx, cmd, start := c.ctx, c.cmd, c.start // these never change, even if the call is its batch's now
	if left, ok := err.(*leftError); ok {
		return l.drop(ctx, cmd, telemetry.OutcomeCancelled, left.inFlight, start, l.explain(left, cmd, start))
	}
	outcome := telemetry.OutcomeRejected
	if c.again {
		outcome = telemetry.OutcomeCancelled
	}
	l.h.free(c)
	return l.drop(ctx, cmd, outcome, false, start, err)
}

// pauseAgain waits before a call is sent again, and makes it ready.
func (l *lane) pauseAgain(c *single) error {
	wait := l.h.backoff(int(c.attempt))
	l.tellRetry(&c.call, wait)
	if err := pause(c.ctx, wait); err != nil {
		return err
	}
	c.rearm()
	c.admitted = l.now()
	c.state.Store(waiting)
	return nil
}

// unencodable counts a command whose argument's MarshalBinary returned an error: it went nowhere.
func (l *lane) unencodable(ctx context.Context, cmd redis.Cmder, err error) error {
	return l.h.around(ctx, func(context.Context, redis.Cmder) error { return err }, l.node, cmd, telemetry.DirectEncoder)
}
