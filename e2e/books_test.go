package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// books is the workload's own bookkeeping, from what its callers got back.
type books struct {
	mu        sync.Mutex
	commands  int
	outcomes  map[string]int
	direct    map[string]int
	answered  map[string]int // by the server, by name
	pipelines int
	pipelined int
}

func newBooks() *books {
	return &books{outcomes: map[string]int{}, direct: map[string]int{}, answered: map[string]int{}}
}

// add books one command. direct is why it did not queue, "" if it did.
func (b *books) add(name, direct string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := outcome(err)
	b.commands++
	b.outcomes[o.String()]++
	if direct != "" {
		b.direct[direct]++
	}
	switch o {
	case telemetry.OutcomeOK, telemetry.OutcomeNil, telemetry.OutcomeServerError:
		b.answered[name]++
	}
}

// outcome is how a command ended as its caller can tell.
func outcome(err error) telemetry.Outcome {
	var reply redis.Error
	var uncertain *autopipe.UncertainError
	switch {
	case err == nil:
		return telemetry.OutcomeOK
	case errors.Is(err, redis.Nil):
		return telemetry.OutcomeNil
	case errors.As(err, &uncertain):
		return telemetry.OutcomeUncertain
	case errors.Is(err, context.DeadlineExceeded):
		return telemetry.OutcomeCancelled
	case errors.As(err, &reply):
		return telemetry.OutcomeServerError
	}
	return telemetry.OutcomeTransportError
}

// workload sends what applications do, in many goroutines, and books it.
type workload struct {
	rdb    *redis.Client
	cancel bool // some callers have contexts that end early
	// caller gives each goroutine its context.
	caller func(id int) (ctx context.Context, end func())
	books  *books
}

const callers, each = 40, 100

func (w *workload) run(t *testing.T) {
	t.Helper()
	if w.caller == nil {
		w.caller = func(int) (context.Context, func()) { return context.Background(), func() {} }
	}
	w.books = newBooks()
	err := w.rdb.Set(context.Background(), "text", "no number", 0).Err()
	w.books.add("set", "", err)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for id := range callers {
		wg.Go(func() {
			ctx, end := w.caller(id)
			defer end()
			r := rand.New(rand.NewPCG(uint64(id), 1))
			for range each {
				w.one(ctx, r)
			}
		})
	}
	wg.Wait()
}

func (w *workload) one(ctx context.Context, r *rand.Rand) {
	b, key := w.books, fmt.Sprint("key:", r.IntN(100))
	if w.cancel && r.IntN(5) == 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Duration(r.IntN(1500))*time.Microsecond)
		defer stop()
	}
	switch k := r.IntN(100); {
	case k < 40:
		b.add("set", "", w.rdb.Set(ctx, key, "value", 0).Err())
	case k < 60:
		b.add("get", "", w.rdb.Get(ctx, "missing").Err())
	case k < 75:
		b.add("incr", "", w.rdb.Incr(ctx, "count").Err())
	case k < 85:
		b.add("incr", "", w.rdb.Incr(ctx, "text").Err()) // an error reply
	case k < 89:
		b.add("client", "connection", w.rdb.Do(ctx, "client", "id").Err())
	case k < 92:
		b.add("blpop", "blocking", w.rdb.Do(ctx, "blpop", "list", "0.001").Err())
	case k < 95:
		b.add("set", "encoder", w.rdb.Set(ctx, key, struct{}{}, 0).Err())
	case k < 98:
		win := autopipe.NewWindow(w.rdb)
		set, incr := win.Set(ctx, key, "value", 0), win.Incr(ctx, "count")
		_ = win.Submit(ctx).Wait(context.Background())
		b.add("set", "", set.Err())
		b.add("incr", "", incr.Err())
	default:
		w.pipeline(ctx)
	}
}

// pipeline is the application's own; it is no command of autopipe's.
func (w *workload) pipeline(ctx context.Context) {
	const n = 3
	_, err := w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for range n {
			p.Incr(ctx, "pipelined")
		}
		return nil
	})
	w.books.mu.Lock()
	defer w.books.mu.Unlock()
	w.books.pipelines++
	w.books.pipelined += n
	if err == nil {
		w.books.answered["incr"] += n
	}
}

// rest waits until nothing is in flight: a batch that its callers have left reports later than they return.
func rest(t *testing.T, h *autopipe.Hook) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if s := h.Stats(); s.InFlight == 0 && s.Queued == 0 {
			return
		}
	}
	t.Fatalf("the hook does not come to rest: %v", h.Stats())
}
