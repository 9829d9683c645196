package slogpipe

import (
	"log/slog"
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// maxNames bounds the commands named in a record.
const maxNames = 5

// describe is what a record says of a batch.
func describe(b *telemetry.Batch, suppressed int64) []slog.Attr {
	var wait time.Duration
	var outcomes [telemetry.NumOutcomes]int
	retried, again := 0, 0
	for i := range b.Commands {
		c := &b.Commands[i]
		wait = max(wait, c.Wait)
		if c.Attempt > 1 {
			retried++
		}
		if c.Again {
			again++
		}
		outcomes[min(int(c.Outcome), len(outcomes)-1)]++
	}
	attrs := []slog.Attr{
		slog.String(meter.LabelPipe, b.Pipe),
		slog.String(meter.LabelReason, b.Reason.String()),
		slog.Int("size", len(b.Commands)),
		slog.Int("bytes", b.Bytes),
		slog.Duration("round_trip", b.RoundTrip),
		slog.Duration("queue_wait_max", wait),
		slog.Any("commands", names(b)),
	}
	if b.Node != "" {
		attrs = append(attrs, slog.String(meter.LabelNode, b.Node))
	}
	var ends []any
	for o, n := range outcomes {
		if n > 0 {
			ends = append(ends, slog.Int(telemetry.Outcome(o).String(), n))
		}
	}
	attrs = append(attrs, slog.Group("outcomes", ends...))
	if retried > 0 {
		attrs = append(attrs, slog.Int("retried", retried))
	}
	if again > 0 {
		attrs = append(attrs, slog.Int("to_be_retried", again))
	}
	if b.Err != nil {
		attrs = append(attrs, slog.String("error_type", meter.Breakage(b.Err)))
	}
	if suppressed > 0 {
		attrs = append(attrs, slog.Int64("suppressed", suppressed))
	}
	return attrs
}

// names lists the first different commands of a batch; a name that the command table lacks may be anything, so it is not
// shown.
func names(b *telemetry.Batch) []string {
	var list []string
next:
	for i := range b.Commands {
		name := meter.CommandName(b.Commands[i].Name)
		if name == "" {
			name = meter.Other
		}
		for _, have := range list {
			if have == name {
				continue next
			}
		}
		if len(list) == maxNames {
			return append(list, "...")
		}
		list = append(list, name)
	}
	return list
}
