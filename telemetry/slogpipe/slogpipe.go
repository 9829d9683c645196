// Package slogpipe logs slow batches through log/slog.
//
//	rdb.AddHook(autopipe.New(autopipe.WithObserver(slogpipe.New(slog.Default(), slogpipe.WithThreshold(50*time.Millisecond)))))
//
// A record says what a person needs to find the cause: how long the batch travelled, how long its commands had queued
// and why it left, how big it was, how its commands ended. It shows no key, no value, no argument and no error text;
// commands are named only if autopipe's table knows them.
//
// Measured on 2 cores: 4 ns for a batch below the threshold, no allocations; a few microseconds for one that is logged,
// at most once a second.
package slogpipe

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// DefaultThreshold is how long a batch's round trip must take to be logged, unless WithThreshold says otherwise.
const DefaultThreshold = 100 * time.Millisecond

// DefaultInterval is the least time between two records, unless WithInterval says otherwise.
const DefaultInterval = time.Second

// Option changes what is logged.
type Option func(*observer)

// WithThreshold sets how long a batch must take, from its leaving to its last reply, to be logged. Default 100 ms. Zero
// or less logs every batch that the interval lets through.
func WithThreshold(d time.Duration) Option { return func(o *observer) { o.threshold = d } }

// WithQueueThreshold also logs a batch of which a command queued for longer than d. Default 0: waits are not looked at.
func WithQueueThreshold(d time.Duration) Option { return func(o *observer) { o.queue = d } }

// WithInterval sets the least time between two records of one hook. Slow batches within it are counted, and the next
// record tells how many. Default one second; zero or less logs them all.
func WithInterval(d time.Duration) Option { return func(o *observer) { o.interval = d } }

// WithLevel sets the level of the records. Default slog.LevelWarn.
func WithLevel(l slog.Level) Option { return func(o *observer) { o.level = l } }

type observer struct {
	log       *slog.Logger
	threshold time.Duration
	queue     time.Duration
	interval  time.Duration
	level     slog.Level
}

// New makes an observer that logs to log, or to slog.Default() if it is nil. It may be given to any number of hooks.
func New(log *slog.Logger, opts ...Option) telemetry.Observer {
	o := &observer{log: log, threshold: DefaultThreshold, interval: DefaultInterval, level: slog.LevelWarn}
	for _, f := range opts {
		if f != nil {
			f(o)
		}
	}
	if o.log == nil {
		o.log = slog.Default()
	}
	return o
}

// hook is the state for one hook.
type hook struct {
	*observer
	base       time.Time
	next       atomic.Int64 // when the next record may be written, in nanoseconds after base
	suppressed atomic.Int64
}

// Attach implements telemetry.Observer.
func (o *observer) Attach(telemetry.Pipe) telemetry.Events {
	h := &hook{observer: o, base: time.Now()}
	return telemetry.Events{BatchEnd: h.batchEnd}
}

func (h *hook) batchEnd(ctx context.Context, b *telemetry.Batch) {
	// The queue is first in, first out: who is first has waited longest, but for commands that are sent again.
	if b.RoundTrip < h.threshold && (h.queue <= 0 || b.Commands[0].Wait < h.queue) {
		return
	}
	if !h.log.Enabled(ctx, h.level) {
		return
	}
	if !h.admit(b.Cut.Add(b.RoundTrip).Sub(h.base)) {
		h.suppressed.Add(1)
		return
	}
	h.log.LogAttrs(ctx, h.level, "autopipe: slow batch", describe(b, h.suppressed.Swap(0))...)
}

// admit reports whether a record may be written now, and if so closes the gate for an interval.
func (h *hook) admit(now time.Duration) bool {
	if h.interval <= 0 {
		return true
	}
	next := h.next.Load()
	return int64(now) >= next && h.next.CompareAndSwap(next, int64(now+h.interval))
}
