package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/rival"
)

// slotEvery is how often a scenario has its slot.
const slotEvery = time.Second

// scenarioPool is how many connections each scenario's client may have.
const scenarioPool = 10

// scenario is a variant of the benchmark with its client. Its hook, if it has one, reports to nobody.
type scenario struct {
	*rival.Variant
	client rival.Client
}

// callers of a windowed scenario are a quarter: each has a whole window on its way, and with all of them a slot would be over
// before the first windows are back.
func (s scenario) callers(n int) int {
	if s.Windowed {
		n = max(1, n/4)
	}
	return s.Callers(n)
}

func (d *Demo) openScenarios() error {
	for _, v := range d.cfg.Scenarios {
		c, err := v.Open(rival.Setup{Addr: d.cfg.Redis[0], Pool: scenarioPool})
		if err != nil {
			return fmt.Errorf("scenario %s: %w", v.Name, err)
		}
		d.onClose(c.Close)
		d.scenarios = append(d.scenarios, scenario{v, c})
		d.own.ran(v.Name, &load.Result{}) // its series exist from the start
	}
	return nil
}

// compare runs the scenarios in turn, each for a slot at full speed, so that all meet the same load beside them.
func (d *Demo) compare(ctx context.Context) {
	work := load.NewWork(load.Set, 16, d.cfg.Callers)
	for i := 0; len(d.scenarios) > 0 && sleep(ctx, slotEvery-d.cfg.Slot); i++ {
		s := d.scenarios[i%len(d.scenarios)]
		d.own.ran(s.Name, load.Run(ctx, load.Options{
			Callers: s.callers(d.cfg.Callers), Duration: d.cfg.Slot,
			NewWorker: func(id int) load.Worker { return s.client.Worker(work, id) },
		}))
	}
}
