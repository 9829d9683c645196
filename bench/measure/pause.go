package measure

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/rival"
)

// Pause is what the callers of the other nodes see while one node does not answer.
type Pause struct {
	// Calm is the same load just before, with all nodes answering.
	Calm Served `json:"calm"`
	// Paused is with one node silent.
	Paused Served `json:"paused"`
	Failed uint64 `json:"failed,omitempty"`
	Error  string `json:"error,omitempty"` // the first one
}

// Served is what the callers of the nodes other than the paused one were given.
type Served struct {
	Rate float64 `json:"commands_per_second"`
	// Latency in nanoseconds, of every command.
	P50 float64 `json:"p50_ns"`
	P99 float64 `json:"p99_ns"`
	Max float64 `json:"max_ns"`
}

const (
	// settle is how long the node is silent before the callers of the others are measured.
	settle = 50 * time.Millisecond
	// patience of the silent node's callers, as request handlers have it. They come again,
	// so that commands for that node keep arriving.
	patience = 20 * time.Millisecond
)

// impatient callers give every command a deadline.
type impatient struct{ load.Worker }

func (w impatient) Do(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return w.Worker.Do(ctx)
}

// Pause measures a variant once with all nodes answering and once with one of them silent
// (CLIENT PAUSE), d each. Every caller keeps to the keys of one node, an equal share of
// them for each, so that those who are measured never ask the silent node for anything.
// Those of that node have deadlines and are not measured: some clients keep them until
// the node answers, whatever their contexts say.
func (s *Cluster) Pause(ctx context.Context, v *rival.Variant, sc plan.Scenario, d time.Duration) (Pause, error) {
	if len(s.masters) < 2 {
		return Pause{}, errors.New("pausing a node takes a cluster of at least two masters")
	}
	c, err := s.client(v)
	if err != nil {
		return Pause{}, err
	}
	all, err := s.work(ctx, sc, sc.Callers)
	if err != nil {
		return Pause{}, err
	}
	victim := s.masters[0]
	healthy, stuck := *all, *all
	healthy.Keys, stuck.Keys = nil, nil
	for _, k := range all.Keys {
		owner, err := s.owner(ctx, k)
		if err != nil {
			return Pause{}, err
		}
		if owner == victim.addr {
			stuck.Keys = append(stuck.Keys, k)
		} else {
			healthy.Keys = append(healthy.Keys, k)
		}
	}
	waiting := sc.Callers / len(s.masters)
	var out Pause
	measured := func(pause bool) (Served, error) {
		if pause {
			if err := victim.server.Pause(ctx, d+2*settle); err != nil {
				return Served{}, err
			}
		}
		var others sync.WaitGroup
		others.Go(func() {
			load.Run(ctx, load.Options{
				Callers: waiting, Duration: d + settle, Context: s.Context,
				NewWorker: func(id int) load.Worker { return impatient{c.Worker(&stuck, id)} },
			})
		})
		time.Sleep(settle)
		res := load.Run(ctx, load.Options{
			Callers: sc.Callers - waiting, Duration: d, Context: s.Context, SampleEvery: 1,
			NewWorker: func(id int) load.Worker { return c.Worker(&healthy, waiting+id) },
		})
		others.Wait()
		out.Failed += res.Failed
		if res.Err != nil && out.Error == "" {
			out.Error = res.Err.Error()
		}
		return Served{
			Rate: res.Rate(),
			P50:  float64(res.Latency.Quantile(0.5)), P99: float64(res.Latency.Quantile(0.99)), Max: float64(res.Latency.Max()),
		}, ctx.Err()
	}
	if out.Calm, err = measured(false); err != nil {
		return out, err
	}
	out.Paused, err = measured(true)
	return out, err
}
