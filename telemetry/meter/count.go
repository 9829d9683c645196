package meter

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
)

// scratch is where the goroutine that runs a batch counts its commands, before it adds them to the shared counts.
type scratch struct {
	wait, duration *histogram.Local
	outcomes       [telemetry.NumOutcomes]uint32
}

// count counts the end of one command.
func (l *scratch) count(b *telemetry.Batch, c *telemetry.Command) {
	l.outcomes[min(int(c.Outcome), len(l.outcomes)-1)]++
	l.duration.Observe(int64(Duration(b, c)))
}

// end moves what was counted to shared counts.
func (l *scratch) end(outcomes []atomic.Uint64, duration *Distribution) {
	l.duration.MergeInto(duration.Histogram)
	for o, n := range l.outcomes {
		if n > 0 {
			outcomes[o].Add(uint64(n))
			l.outcomes[o] = 0
		}
	}
}

// Duration is how long a command took as its caller saw it, from b's BatchEnd.
func Duration(b *telemetry.Batch, c *telemetry.Command) time.Duration {
	switch {
	case c.Duration > 0:
		return c.Duration
	case !c.Start.IsZero():
		return b.Cut.Sub(c.Start) + b.RoundTrip
	default:
		return c.Wait + b.RoundTrip
	}
}

func (a *attachment) batchEnd(_ context.Context, b *telemetry.Batch) {
	s, o := a.pipe.series(b.Node), a.meter.options.Load()
	at(s.flushes[:], b.Reason).Add(1)
	s.batchSize.Observe(int64(len(b.Commands)))
	s.batchBytes.Observe(int64(b.Bytes))
	s.batchDuration.Observe(int64(b.RoundTrip))
	if len(b.Commands) == 1 {
		s.one(b, &b.Commands[0], o.Commands)
	} else {
		c := a.meter.scratch.Get().(*scratch)
		s.many(b, c)
		if o.Commands {
			s.named(b, c)
		}
		a.meter.scratch.Put(c)
	}
	if o.Sampler != nil {
		s.mark(b, o.Sampler)
	}
}

// one counts a lone command.
func (s *Series) one(b *telemetry.Batch, c *telemetry.Command, named bool) {
	s.queueWait.Observe(int64(c.Wait))
	if c.Again || c.Left {
		return
	}
	d := int64(Duration(b, c))
	at(s.commands[:], c.Outcome).Add(1)
	s.commandDuration.Observe(d)
	if named {
		cmd := s.command(c.Name)
		at(cmd.outcomes[:], c.Outcome).Add(1)
		cmd.duration.Observe(d)
	}
}

// many counts the commands of a batch. What counts here is the cost of one turn.
func (s *Series) many(b *telemetry.Batch, local *scratch) {
	for i := range b.Commands {
		c := &b.Commands[i]
		local.wait.Observe(int64(c.Wait))
		if !c.Again && !c.Left { // else it counts when it has ended, or has when its caller left
			local.count(b, c)
		}
	}
	local.wait.MergeInto(s.queueWait.Histogram)
	local.end(s.commands[:], s.commandDuration)
}

// named counts a batch's commands by name. A batch often holds one command many times over, so what is counted locally is
// a run of one name.
func (s *Series) named(b *telemetry.Batch, local *scratch) {
	var run *CommandSeries
	name := ""
	for i := range b.Commands {
		c := &b.Commands[i]
		if c.Again || c.Left {
			continue
		}
		if run == nil || c.Name != name {
			if run != nil {
				local.end(run.outcomes[:], run.duration)
			}
			run, name = s.command(c.Name), c.Name
		}
		local.count(b, c)
	}
	if run != nil {
		local.end(run.outcomes[:], run.duration)
	}
}

// maxLooks is among how many commands of a batch, the longest waiting first, an exemplar is looked for. Looking is a
// walk up the caller's context.
const maxLooks = 8

// mark makes the first sampled command of the batch the exemplar of all its durations.
func (s *Series) mark(b *telemetry.Batch, sampled Sampler) {
	for i := range b.Commands[:min(len(b.Commands), maxLooks)] {
		c := &b.Commands[i]
		t, ok := sampled(c.Context)
		if !ok || c.Left {
			continue
		}
		now := b.Cut.Add(b.RoundTrip)
		s.queueWait.mark(int64(c.Wait), t, now)
		s.batchDuration.mark(int64(b.RoundTrip), t, now)
		if !c.Again {
			s.commandDuration.mark(int64(Duration(b, c)), t, now)
			if s.byName.Load() != nil {
				s.command(c.Name).duration.mark(int64(Duration(b, c)), t, now)
			}
		}
		return
	}
}

func (a *attachment) direct(_ context.Context, d *telemetry.Direct) {
	s := a.pipe.series(d.Node)
	at(s.direct[:], d.Reason).Add(1)
	at(s.commands[:], d.Outcome).Add(1)
	if a.meter.options.Load().Commands {
		at(s.command(d.Name).outcomes[:], d.Outcome).Add(1)
	}
}

func (a *attachment) retry(_ context.Context, r *telemetry.Retry) {
	at(a.pipe.series(r.Node).retries[:], r.Cause).Add(1)
}

func (a *attachment) drop(_ context.Context, d *telemetry.Drop) {
	s := a.pipe.series(d.Node)
	named := a.meter.options.Load().Commands
	at(s.commands[:], d.Outcome).Add(1)
	if named {
		at(s.command(d.Name).outcomes[:], d.Outcome).Add(1)
	}
	if d.Outcome == telemetry.OutcomeRejected { // it never had a place in the queue
		return
	}
	s.commandDuration.Observe(int64(d.Waited))
	if named {
		s.command(d.Name).duration.Observe(int64(d.Waited))
	}
}

func (a *attachment) pipeline(_ context.Context, p *telemetry.Pipeline) {
	s := a.pipe.series(p.Node)
	s.pipelines[0].Add(1)
	s.pipelines[1].Add(uint64(p.Size))
}
