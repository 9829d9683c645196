package autopipe

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// wire is a server that is not there: a chain whose functions take a fixed time and answer as go-redis would.
type wire struct {
	delay  time.Duration
	fail   func(sent int) error // error of the send with that number, from 1; nil for none
	mu     sync.Mutex
	sent   [][]string // keys of each send
	now    atomic.Int64
	widest atomic.Int64 // most sends at once
}

func (w *wire) chain() *hook.Chain {
	return &hook.Chain{
		Process: func(_ context.Context, cmd redis.Cmder) error {
			return w.send([]redis.Cmder{cmd})
		},
		Pipeline: func(_ context.Context, cmds []redis.Cmder) error {
			err := w.send(cmds)
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		},
		TxPipeline: func(context.Context, []redis.Cmder) error { return errors.New("not used") },
	}
}

func (w *wire) send(cmds []redis.Cmder) error {
	n := w.now.Add(1)
	defer w.now.Add(-1)
	for m := w.widest.Load(); n > m && !w.widest.CompareAndSwap(m, n); m = w.widest.Load() {
	}
	var keys []string
	for _, cmd := range cmds {
		keys = append(keys, cmd.Args()[1].(string))
	}
	w.mu.Lock()
	w.sent = append(w.sent, keys)
	sends := len(w.sent)
	w.mu.Unlock()
	if w.delay > 0 {
		time.Sleep(w.delay)
	}
	if w.fail != nil {
		return w.fail(sends)
	}
	return nil
}

func (w *wire) sizes() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var sizes []int
	for _, s := range w.sent {
		sizes = append(sizes, len(s))
	}
	return sizes
}

// newTestLane makes a lane before w, and get, which sends GET key through it.
func newTestLane(w *wire, opts ...Option) (h *Hook, get func(context.Context, string) error) {
	h = New(opts...)
	l := &lane{h: h, chain: w.chain()}
	l.locate(hook.Single)
	return h, func(ctx context.Context, key string) error {
		return l.process(ctx, redis.NewStringCmd(ctx, "get", key))
	}
}

var bg = context.Background()

// observe is an observer that only listens.
type observe telemetry.Events

func (o observe) Attach(telemetry.Pipe) telemetry.Events { return telemetry.Events(o) }
