package prom_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
)

// duration returns the count and the sum of a histogram, in seconds.
func duration(t *testing.T, reg prometheus.Gatherer, name string) (n uint64, seconds float64) {
	t.Helper()
	for _, m := range gather(t, reg)[name].GetMetric() {
		n += m.GetHistogram().GetSampleCount()
		seconds += m.GetHistogram().GetSampleSum()
	}
	return n, seconds
}

// What a caller saw includes its retries and the pauses before them, although each sending is a batch of its own.
func TestCommandDurationCoversRetries(t *testing.T) {
	srv := redistest.Run(t)
	proxy := redistest.RunProxy(t, srv.Addr())
	reg := prometheus.NewRegistry()
	rdb := srv.Client(t, func(o *redis.Options) { o.Addr = proxy.Addr() })
	rdb.AddHook(autopipe.New(autopipe.WithObserver(prom.New(reg)), autopipe.WithRetryBackoff(40*time.Millisecond, 60*time.Millisecond)))
	proxy.FakeReply("get key", "-LOADING Redis is loading the dataset in memory\r\n", 2)
	begin := time.Now()
	rdb.Get(context.Background(), "key")
	took := time.Since(begin).Seconds()
	n, seconds := duration(t, reg, "autopipe_command_duration_seconds")
	if n != 1 || seconds < 0.08 || seconds > took {
		t.Errorf("%d commands took %gs, the caller saw %gs", n, seconds, took)
	}
	if n, seconds := duration(t, reg, "autopipe_queue_wait_duration_seconds"); n != 3 || seconds > took-0.08 {
		t.Errorf("%d sendings queued for %gs: the pauses are no queue", n, seconds)
	}
}

// A caller that leaves has seen the time until then, not until its batch came back.
func TestCommandDurationEndsWhenTheCallerLeaves(t *testing.T) {
	srv := redistest.Run(t)
	reg := prometheus.NewRegistry()
	rdb := srv.Client(t)
	hook := autopipe.New(autopipe.WithObserver(prom.New(reg)))
	rdb.AddHook(hook)
	rdb.Get(context.Background(), "key") // a connection
	before, already := duration(t, reg, "autopipe_command_duration_seconds")
	if err := srv.Freeze(); err != nil {
		t.Fatal(err)
	}
	// No deadline: go-redis would end the read with it, and the batch would be back when the caller leaves.
	ctx, cancel := context.WithCancel(context.Background())
	defer time.AfterFunc(300*time.Millisecond, cancel).Stop()
	start := time.Now()
	err := rdb.Get(ctx, "key").Err()
	took := time.Since(start).Seconds()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	time.Sleep(200 * time.Millisecond)
	if err := srv.Thaw(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); hook.Stats().InFlight > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	n, seconds := duration(t, reg, "autopipe_command_duration_seconds")
	if n-before != 1 || seconds-already < 0.05 || seconds-already > took {
		t.Errorf("%d commands took %gs, the caller left after %gs", n-before, seconds-already, took)
	}
}
