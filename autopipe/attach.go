package autopipe

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// Attach adds a hook to any go-redis client and returns it:
//
//	ap := autopipe.Attach(rdb, autopipe.WithName("sessions"))
//
// For a Client or a failover client it is the same as rdb.AddHook(autopipe.New(opts...)). For a ClusterClient or a Ring it
// gives every node a lane of its own, where AddHook has one for all nodes whose batches go-redis splits: a slow node then
// delays only its own commands, MOVED and ASK are followed command by command without holding a batch up, and telemetry
// tells the nodes apart. A client of another type gets the hook by its AddHook.
//
// Attaching to a client again returns the hook that it has, whatever the options. Attach does not connect, and does not
// keep the client alive.
func Attach(rdb redis.UniversalClient, opts ...Option) *Hook {
	switch c := rdb.(type) {
	case *redis.Client:
		h, fresh := attachedTo(c, opts)
		if fresh {
			if o := c.Options(); o.ClientSideCacheConfig != nil || o.ClientSideCache != nil {
				h.tracking.Store(true)
			}
			c.AddHook(h)
		}
		return h
	case *redis.ClusterClient:
		h, fresh := attachedTo(c, opts)
		if fresh {
			attachNodes(h, c)
		}
		return h
	case *redis.Ring:
		h, fresh := attachedTo(c, opts)
		if fresh {
			attachNodes(h, c)
		}
		return h
	}
	h := New(opts...)
	rdb.AddHook(h)
	return h
}

// attached knows the hook of each client that Attach has seen. Both are weak: a hook's observers may lead to its client,
// and as long as the client is in use, it holds its hook.
var attached sync.Map

func attachedTo[T any](client *T, opts []Option) (h *Hook, fresh bool) {
	key := weak.Make(client)
	if w, ok := attached.Load(key); ok {
		return w.(weak.Pointer[Hook]).Value(), false
	}
	h = New(opts...)
	w, loaded := attached.LoadOrStore(key, weak.Make(h))
	if loaded { // attached by another goroutine, which holds it until its client does
		return w.(weak.Pointer[Hook]).Value(), false
	}
	runtime.AddCleanup(client, func(key weak.Pointer[T]) { attached.Delete(key) }, key)
	return h, true
}

// nodes is what ClusterClient and Ring have in common.
type nodes interface {
	AddHook(redis.Hook)
	OnNewNode(func(*redis.Client))
}

func attachNodes(h *Hook, c nodes) {
	top := &topHook{h: h, seen: new(sync.Map)}
	c.OnNewNode(top.attach)
	switch c := c.(type) {
	case *redis.ClusterClient:
		top.each = c.ForEachShard
	case *redis.Ring:
		top.each = c.ForEachShard // but those that are down
		top.live = c.Len
		top.missing = slices.Collect(maps.Values(c.Options().Addrs))
	}
	c.AddHook(top)
}

// topHook sits above a cluster client or ring whose nodes have lanes. Commands pass through it to their node; it opens
// the errors that the lanes have sealed, and carries submitted commands, which must wait somewhere for redirections.
type topHook struct {
	h    *Hook
	each func(context.Context, func(context.Context, *redis.Client) error) error
	seen *sync.Map // nodes that have the hook, by weak pointer

	whole   atomic.Bool // the nodes that the client had before Attach have the hook
	mu      sync.Mutex
	looking chan struct{} // closed when the look at the nodes that goes on now is over
	missing []string      // a Ring's shards that have not been seen
	live    func() int    // how many of its shards a Ring believes to be up
	seenUp  int           // the same at the last look
	looked  time.Duration // when that was, on the hook's clock
}

// attach gives a node its lane.
func (t *topHook) attach(node *redis.Client) {
	key := weak.Make(node)
	if _, loaded := t.seen.LoadOrStore(key, struct{}{}); loaded {
		return
	}
	seen := t.seen // t itself leads to the client, and so to the node: it would never be collected
	runtime.AddCleanup(node, func(key weak.Pointer[redis.Client]) { seen.Delete(key) }, key)
	addr := node.Options().Addr
	node.AddHook(&nodeHook{Hook: t.h, node: addr})
	t.mu.Lock()
	t.missing = slices.DeleteFunc(t.missing, func(a string) bool { return a == addr })
	t.mu.Unlock()
}

// before attaches the nodes that the client knew before Attach; later ones come through OnNewNode. It runs with the
// first command, which is about to learn the topology anyway, and again with later ones if a cluster could not be
// reached or a shard of a Ring was down, since then nobody names them.
func (t *topHook) before(ctx context.Context) {
	if t.whole.Load() {
		return
	}
	t.mu.Lock()
	looking := t.looking
	if looking == nil && !t.whole.Load() && t.stale() {
		looking = make(chan struct{})
		t.looking = looking
		go t.look(context.WithoutCancel(ctx), looking) // for all callers: nobody's context ends it, the client's timeouts do
	}
	t.mu.Unlock()
	if looking == nil {
		return
	}
	select {
	case <-looking:
	case <-ctx.Done():
	}
}

// lookAgain is how often a Ring is looked at while a shard of it is missing, if the number of those that are up stays the
// same: one may have come as another went. A shard that never comes back must cost the commands of the others nothing.
const lookAgain = time.Second

// stale reports whether another look may find more nodes. mu is held.
func (t *topHook) stale() bool {
	return t.live == nil || t.looked == 0 || t.live() != t.seenUp || t.h.now()-t.looked > lookAgain
}

func (t *topHook) look(ctx context.Context, over chan struct{}) {
	up, at := 0, t.h.now()
	if t.live != nil {
		up = t.live()
	}
	err := t.each(ctx, func(_ context.Context, node *redis.Client) error {
		t.attach(node)
		return nil
	})
	t.mu.Lock()
	t.whole.Store(err == nil && len(t.missing) == 0)
	t.looking, t.seenUp, t.looked = nil, up, at
	t.mu.Unlock()
	close(over)
}

func (t *topHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (t *topHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	l := &lane{h: t.h, chain: &hook.Chain{}} // for the order of submitted units; nothing queues in it
	return func(ctx context.Context, cmd redis.Cmder) error {
		start := l.now()
		t.before(ctx)
		if s, ok := cmd.(*submission); ok {
			return l.relay(ctx, s, s.unit.cmd[:], func(ctx context.Context, cmds []redis.Cmder) error {
				return t.open(ctx, cmds[0], start, next(ctx, cmds[0]))
			})
		}
		return t.open(ctx, cmd, start, next(ctx, cmd))
	}
}

func (t *topHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	l := &lane{h: t.h, chain: &hook.Chain{}}
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.before(ctx)
		if len(cmds) > 0 {
			if s, ok := cmds[0].(*submission); ok {
				return l.relay(ctx, s, cmds, next)
			}
		}
		err := next(ctx, cmds)
		if t.h.cfg.merge { // then nodes' lanes carried them
			for _, cmd := range cmds {
				if sealed := cmd.Err(); sealed != nil {
					cmd.SetErr(unseal(sealed))
				}
			}
		}
		return unseal(err)
	}
}

// open gives the caller the error that a node's lane had sealed, and counts a command that the lane passed up for
// another try which the cluster client has given up.
func (t *topHook) open(ctx context.Context, cmd redis.Cmder, start time.Duration, err error) error {
	if err == nil {
		return nil
	}
	if inner := unseal(err); inner != err {
		return inner
	}
	if outcome, ok := passedUp(ctx, err); ok {
		t.h.count.outcome[outcome].Add(1)
		if t.h.observed {
			t.h.events.drop(ctx, &telemetry.Drop{
				Pipe: t.h.cfg.name, Name: cmd.Name(), Outcome: outcome, InFlight: true, Waited: t.h.now() - start,
			})
		}
	}
	return err
}

// relay runs submitted commands through the cluster client in a goroutine of their own, in the order of their stream.
func (l *lane) relay(ctx context.Context, s *submission, cmds []redis.Cmder, next redis.ProcessPipelineHook) error {
	u := s.unit
	u.relay = next
	if err := u.prepare(l, ctx, s.restore(cmds), s.key); err != nil {
		return err
	}
	s.taken = true
	l.mu.Lock()
	l.start(u)
	return nil
}

// passedUp reports whether err is of a kind that a node's lane passes to the cluster client uncounted, or the cluster
// client's own, and how the command ended if it comes out above.
func passedUp(ctx context.Context, err error) (telemetry.Outcome, bool) {
	switch {
	case errors.As(err, new(*sealedError)): // one node's among several
		return 0, false
	case isReply(err):
		_, refused := refusal(err)
		_, redirected := redirect(err)
		return telemetry.OutcomeServerError, refused || redirected
	case ctx.Err() != nil && errors.Is(err, ctx.Err()): // in the pause before another try: lanes seal theirs
		return telemetry.OutcomeCancelled, true
	}
	_, sent := transportCause(err)
	return telemetry.OutcomeTransportError, !sent || isTransport(err)
}
