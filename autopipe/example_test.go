package autopipe_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// exampleClient is a client of a small server in this process; yours dials Redis.
func exampleClient() (*redis.Client, func()) {
	srv, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: srv.Addr()})
	return rdb, func() {
		_ = rdb.Close()
		srv.Close()
	}
}

// One line is all: goroutines call the client as before, and share round trips.
func Example() {
	ctx := context.Background()
	rdb, done := exampleClient()
	defer done()

	rdb.AddHook(autopipe.New())

	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() { rdb.Set(ctx, fmt.Sprint("key", i), i, 0) })
	}
	wg.Wait()
	fmt.Println(rdb.Get(ctx, "key42").Val())
	// Output: 42
}

// Options are for those who need them; the defaults suit most uses.
func ExampleNew() {
	rdb, done := exampleClient()
	defer done()

	ap := autopipe.New(
		autopipe.WithName("sessions"),
		autopipe.WithMaxBatch(256),
		autopipe.WithMaxQueue(10_000),
		autopipe.WithDirect("sort"), // known to be slow here: never in the way of others
	)
	rdb.AddHook(ap)
	fmt.Println(rdb.Incr(context.Background(), "n").Val())
	// Output: 1
}

// Stats tell what became of the commands.
func ExampleHook_Stats() {
	ctx := context.Background()
	rdb, done := exampleClient()
	defer done()
	ap := autopipe.New()
	rdb.AddHook(ap)

	rdb.Set(ctx, "key", "value", 0)
	rdb.Get(ctx, "key")
	rdb.Get(ctx, "none")
	rdb.BLPop(ctx, time.Second, "list", "key") // WRONGTYPE, and blocking: goes directly

	s := ap.Stats()
	fmt.Println(s.Commands, "commands in", s.Batches, "batches")
	fmt.Println("ok", s.Outcomes["ok"], "nil", s.Outcomes["nil"], "server errors", s.Outcomes["server_error"])
	fmt.Println("direct because blocking:", s.Direct["blocking"])
	// Output:
	// 3 commands in 3 batches
	// ok 2 nil 1 server errors 1
	// direct because blocking: 1
}

// A write whose reply was lost is not sent twice. What to do then is the caller's to decide.
func ExampleUncertainError() {
	var err error = &autopipe.UncertainError{Command: "incr", Err: errors.New("connection reset by peer")}

	var uncertain *autopipe.UncertainError
	if errors.As(err, &uncertain) {
		fmt.Println("check before trying again:", uncertain.Command)
	}
	fmt.Println(err)
	// Output:
	// check before trying again: incr
	// autopipe: reply lost, INCR may or may not have run: connection reset by peer
}

// tracer is a hook of the user's that is added after autopipe and so sees its batches.
type tracer struct{}

func (tracer) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (tracer) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return tracer{}.process(next) }
func (tracer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (tracer) process(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if get, ok := autopipe.Unwrap(cmd).(*redis.StringCmd); ok {
			fmt.Println("a string command:", get.Name())
		}
		return err
	}
}

// Hooks added after autopipe see stand-ins; Unwrap gives the command itself.
func ExampleUnwrap() {
	ctx := context.Background()
	rdb, done := exampleClient()
	defer done()
	rdb.AddHook(autopipe.New())
	rdb.AddHook(tracer{})

	rdb.Get(ctx, "key")
	// Output: a string command: get
}

// batchLog is an observer that writes a line for each batch.
type batchLog struct{ lines *[]string }

func (l batchLog) Attach(p telemetry.Pipe) telemetry.Events {
	return telemetry.Events{
		BatchEnd: func(_ context.Context, b *telemetry.Batch) {
			*l.lines = append(*l.lines, fmt.Sprintf("%s: %d command, flushed because %s", p.Name, b.Size, b.Reason))
		},
	}
}

func ExampleWithObserver() {
	rdb, done := exampleClient()
	defer done()
	var lines []string
	rdb.AddHook(autopipe.New(autopipe.WithObserver(batchLog{&lines})))

	rdb.Set(context.Background(), "key", "value", 0)
	fmt.Println(strings.Join(lines, "\n"))
	// Output: default: 1 command, flushed because idle
}
