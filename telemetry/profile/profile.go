package profile

import (
	"context"
	"runtime/pprof"
	"strings"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// Label keys.
const (
	LabelStage  = "autopipe_stage"
	LabelPipe   = "autopipe_pipe"
	LabelReason = "autopipe_reason"
)

// Values of LabelStage.
const (
	StageLone  = "lone"  // one command, with nobody else's
	StageBatch = "batch" // several commands
)

type observer struct{}

// New makes an observer that labels the goroutine of each batch while it runs. It may be given to any number of hooks.
func New() telemetry.Observer { return observer{} }

// Attach implements telemetry.Observer.
func (observer) Attach(p telemetry.Pipe) telemetry.Events {
	l := makeSets(clean(p.Name))
	return telemetry.Events{BatchStart: l.start, BatchEnd: l.end}
}

// sets are the labels of one hook, by reason. A lone command has two of the same content: which of them the goroutine
// carries at the end tells what to put in its place.
type sets struct {
	batch   [telemetry.NumFlushReasons]set
	bare    [telemetry.NumFlushReasons]set // lone, on a goroutine that had no labels
	labeled [telemetry.NumFlushReasons]set // lone, on one that had the labels of the command's context
}

func makeSets(pipe string) *sets {
	l := new(sets)
	done := make(chan struct{})
	go func() { // finding a set's identity changes the goroutine's labels
		defer close(done)
		for i := range telemetry.NumFlushReasons {
			reason := telemetry.FlushReason(i).String()
			labels := func(stage string) pprof.LabelSet {
				return pprof.Labels(LabelStage, stage, LabelPipe, pipe, LabelReason, reason)
			}
			l.batch[i] = makeSet(labels(StageBatch))
			l.bare[i] = makeSet(labels(StageLone))
			l.labeled[i] = makeSet(labels(StageLone))
		}
	}()
	<-done
	return l
}

// clean makes a pipe's name fit for profile stores that read blanks, commas, equal signs or braces as their own syntax.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-.:/", r):
			return r
		}
		return '_'
	}, name)
}

func (l *sets) start(ctx context.Context, b *telemetry.Batch) context.Context {
	i := min(int(b.Reason), telemetry.NumFlushReasons-1)
	if len(b.Commands) > 1 {
		l.batch[i].apply() // on a runner, which has no labels of its own
		return ctx
	}
	was := current()
	if was == nil {
		l.bare[i].apply()
		return ctx
	}
	// The labels can be given back if the command's context has them.
	pprof.SetGoroutineLabels(b.Commands[0].Context)
	if current() == was {
		l.labeled[i].apply()
	} else {
		restore(was)
	}
	return ctx
}

func (l *sets) end(_ context.Context, b *telemetry.Batch) {
	i := min(int(b.Reason), telemetry.NumFlushReasons-1)
	switch current() {
	case l.batch[i].ptr, l.bare[i].ptr:
		pprof.SetGoroutineLabels(context.Background())
	case l.labeled[i].ptr:
		pprof.SetGoroutineLabels(b.Commands[0].Context)
	}
}
