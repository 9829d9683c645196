package autopipe

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
)

// ErrTxWindow is returned by a Window that is asked for a transaction. Use the client's own TxPipeline.
var ErrTxWindow = errors.New("autopipe: a Window cannot be a transaction; use the client's TxPipeline")

// Pipeliner is any go-redis client that makes pipelines.
type Pipeliner interface {
	Pipeline() redis.Pipeliner
}

// Window collects commands and submits them together, to be read later:
//
//	w := autopipe.NewWindow(rdb)
//	a, b := w.Get(ctx, "a"), w.Incr(ctx, "n")
//	p := w.Submit(ctx) // returns at once
//	...
//	err := p.Wait(ctx) // then a.Val(), b.Val()
//
// It is a redis.Pipeliner, so it has every typed method. Submit leaves it empty, ready for the next commands. A submitted
// window travels as one unit within the batches that all callers of the client share; its commands run in order, though
// other callers' may run between them: it is no transaction.
//
// Windows submitted by one goroutine run in the order submitted, even before the first has finished, and so do those of
// one Window; see WithUnordered. What is sent again after a failure keeps its order too, but commands that were sent with it
// and succeeded have run before it. An AddHook on the client begins a new order: what was submitted before it may still run.
//
// Like a redis.Pipeline, a Window is for one goroutine at a time.
type Window struct {
	redis.Pipeliner
	client    Pipeliner
	unordered bool
	key       uint64
}

// WindowOption changes one setting of a Window.
type WindowOption func(*Window)

// WithUnordered lets the windows of this Window run in any order, and at the same time. The commands within one window
// still run in order.
func WithUnordered() WindowOption { return func(w *Window) { w.unordered = true } }

// NewWindow makes an empty window on a client that has the hook. On a client without it, and on a Conn or Tx, Submit runs
// the commands as a pipeline at once and returns when they are done.
func NewWindow(client Pipeliner, opts ...WindowOption) *Window {
	w := &Window{Pipeliner: client.Pipeline(), client: client}
	for _, o := range opts {
		if o != nil {
			o(w)
		}
	}
	return w
}

// Pending is a window that has been submitted.
type Pending struct {
	cmds []redis.Cmder
	s    submission
	u    unit
	err  error // of commands that ran at once
}

// Submit sends the collected commands on their way and returns at once. While they are queued, the end of ctx cancels
// them. A full queue fails them with ErrQueueFull, or with WithBlockOnFull makes Submit wait. Read results after Wait:
// before, they are zero values. A []byte or pointer among the arguments may be used again when Submit returns.
func (w *Window) Submit(ctx context.Context) *Pending {
	if w.Len() == 0 {
		return &Pending{}
	}
	pipe := w.client.Pipeline()
	_ = pipe.BatchProcess(ctx, w.Cmds()...)
	w.Discard()
	p := &Pending{cmds: pipe.Cmds()}
	p.s = submission{Cmder: p.cmds[0], unit: &p.u}
	p.u.cmds = p.cmds
	switch w.client.(type) { // a pipeline's hooks cannot see for whom it runs
	case *redis.Client:
		p.s.topology = uint32(hook.Single) + 1
	case *redis.Conn, *redis.Tx:
		p.s.topology = uint32(hook.Sticky) + 1
	}
	if !w.unordered {
		if w.key == 0 {
			w.key = hook.Goroutine()
		}
		p.s.key = w.key
	}
	p.cmds[0] = &p.s // the hook knows it; without the hook it is the command
	_, p.err = pipe.Exec(ctx)
	if p.cmds[0] == redis.Cmder(&p.s) { // else the hook has put the command back, and a runner may be reading
		p.cmds[0] = p.s.Cmder
	}
	return p
}

// Exec submits the collected commands and waits for them: the commands, and the error of the first that failed.
func (w *Window) Exec(ctx context.Context) ([]redis.Cmder, error) {
	p := w.Submit(ctx)
	return p.cmds, p.Wait(ctx)
}

// Pipelined calls fn with the window, then Exec.
func (w *Window) Pipelined(ctx context.Context, fn func(redis.Pipeliner) error) ([]redis.Cmder, error) {
	if err := fn(w); err != nil {
		return nil, err
	}
	return w.Exec(ctx)
}

// Pipeline returns the window itself.
func (w *Window) Pipeline() redis.Pipeliner { return w }

// TxPipelined refuses with ErrTxWindow.
func (w *Window) TxPipelined(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error) {
	return nil, ErrTxWindow
}

// TxPipeline returns a pipeline whose Exec refuses with ErrTxWindow.
func (w *Window) TxPipeline() redis.Pipeliner { return &txWindow{w.client.Pipeline()} }

type txWindow struct{ redis.Pipeliner }

func (t *txWindow) Exec(context.Context) ([]redis.Cmder, error) {
	cmds := slices.Clone(t.Cmds())
	t.Discard()
	for _, cmd := range cmds {
		cmd.SetErr(ErrTxWindow)
	}
	return cmds, ErrTxWindow
}

func (t *txWindow) Pipelined(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error) {
	return nil, ErrTxWindow
}

func (t *txWindow) TxPipelined(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error) {
	return nil, ErrTxWindow
}

func (t *txWindow) Pipeline() redis.Pipeliner   { return t }
func (t *txWindow) TxPipeline() redis.Pipeliner { return t }

// Wait returns, when all commands have run, the error of the first that failed; each command has its own. If ctx ends
// first, it returns ctx's error and only the wait is over: the commands go on, and Wait may be called again.
//
// Several goroutines may wait; each reads results after its own Wait. If the context of one of them cannot end, results may
// appear at any moment from then on. A panic in a hook behind autopipe is repeated by the first Wait.
func (p *Pending) Wait(ctx context.Context) error {
	if !p.s.taken {
		return p.err
	}
	if err := p.u.wait(ctx); err != nil {
		return err
	}
	return p.u.err
}

// Done returns a channel that is closed when all commands have run. Their results are there after Wait, which then does
// not block.
func (p *Pending) Done() <-chan struct{} {
	if !p.s.taken {
		return closed
	}
	return p.u.wake()
}

// Cmds returns the submitted commands in order. Read them after Wait.
func (p *Pending) Cmds() []redis.Cmder { return p.cmds }
