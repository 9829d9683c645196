package demo

import (
	"context"
	"math/rand/v2"
	"time"
)

// burst is how many times the healthy rate a burst has.
const burst = 3

// callers starts the goroutines that send the load of all pipes.
func (d *Demo) callers(ctx context.Context) {
	for _, p := range d.pipes {
		if p.share == 0 {
			continue
		}
		n := max(1, int(float64(d.cfg.Callers)*p.share))
		interval := time.Duration(float64(n) / (d.cfg.Rate * p.share) * float64(time.Second))
		for i := range n {
			d.start(func() { d.caller(ctx, p, uint64(i), interval) })
		}
	}
}

// caller sends one command each interval. All callers of a pipe keep to the same beat, so their commands come in waves,
// as the requests that one page needs do: evenly spread, so few commands would hardly ever meet.
func (d *Demo) caller(ctx context.Context, p *pipe, id uint64, interval time.Duration) {
	r := rand.New(rand.NewPCG(id, uint64(len(p.name))))
	for ctx.Err() == nil {
		d.operation(ctx, p, r)
		beat := interval
		if Phase(d.phase.Load()) == Burst {
			beat /= burst
		}
		if !sleep(ctx, beat-time.Since(d.epoch)%beat) {
			return
		}
	}
}

// operation is one piece of work, traced now and then.
func (d *Demo) operation(ctx context.Context, p *pipe, r *rand.Rand) {
	if r.Float64() < d.cfg.Traces {
		var end func()
		ctx, end = d.tele.span(ctx, p.name)
		defer end()
	}
	mix(ctx, p, r)
}
