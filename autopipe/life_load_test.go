package autopipe_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// eventText formats whatever an observer is told.
type eventText struct {
	mu    sync.Mutex
	text  bytes.Buffer
	large int // direct because of the size
}

func (o *eventText) note(e any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(&o.text, "%+v\n", e)
}

func (o *eventText) Attach(telemetry.Pipe) telemetry.Events {
	return telemetry.Events{
		BatchStart: func(ctx context.Context, b *telemetry.Batch) context.Context { o.note(*b); return ctx },
		BatchEnd:   func(_ context.Context, b *telemetry.Batch) { o.note(*b) },
		Direct: func(_ context.Context, d *telemetry.Direct) {
			o.note(*d)
			if d.Reason == telemetry.DirectLarge {
				o.mu.Lock()
				o.large++
				o.mu.Unlock()
			}
		},
		Retry: func(_ context.Context, r *telemetry.Retry) { o.note(*r) },
		Drop:  func(_ context.Context, d *telemetry.Drop) { o.note(*d) },
	}
}

// A reply of 64 MB beside small ones (StackExchange 1279), and a request of 50 MB, which goes alone. No value reaches an
// observer.
func TestLife_LargeValues(t *testing.T) {
	const size = 64 << 20
	srv := redistest.Run(t)
	serverDo(t, srv, "SETRANGE", "big", fmt.Sprint(size-1), "x")
	obs := &eventText{}
	rdb, ap := hookedOn(t, srv, nil, autopipe.WithObserver(obs))
	rdb.Set(bg, "small", "sesame", 0)
	var mu sync.Mutex
	var took []time.Duration
	stop := company(16, func(int) {
		start := time.Now()
		if v, err := rdb.Get(bg, "small").Result(); v != "sesame" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
		mu.Lock()
		took = append(took, time.Since(start))
		mu.Unlock()
	})
	defer stop()
	var slowest time.Duration
	for range 2 {
		start := time.Now()
		if v, err := rdb.Get(bg, "big").Result(); len(v) != size || err != nil {
			t.Errorf("%d bytes, %v", len(v), err)
		}
		slowest = max(slowest, time.Since(start))
	}
	value := strings.Repeat("sesame", 50<<20/6)
	if err := rdb.Set(bg, "large", value, 0).Err(); err != nil {
		t.Error(err)
	}
	until(t, "10,000 small GETs", func() bool { mu.Lock(); defer mu.Unlock(); return len(took) > 10000 })
	stop()
	mustShare(t, ap)
	slices.Sort(took)
	// Only the small ones in the very batch of a large one wait for it: 16 callers, three times, of 10,000.
	p99 := took[len(took)*99/100]
	if p99 > slowest/2 {
		t.Errorf("p99 of %d small GETs: %v; 64 MB: %v", len(took), p99, slowest)
	}
	t.Logf("64 MB: %v; %d small GETs, p50 %v, p99 %v, max %v", slowest, len(took), took[len(took)/2], p99, took[len(took)-1])
	if n, err := rdb.StrLen(bg, "large").Result(); n != int64(len(value)) || err != nil || obs.large != 1 || ap.Stats().Direct["large"] != 1 {
		t.Errorf("SET of 50 MB: %d, %v, %d direct; %v", n, err, obs.large, ap.Stats())
	}
	if rdb.Close(); bytes.Contains(obs.text.Bytes(), []byte("sesame")) {
		t.Error("a value reached the observer")
	}
}

// Whoever has written reads what it wrote, however many others do the same.
func TestLife_ReadYourWrites(t *testing.T) {
	rdb, ap := hooked(t)
	many(2000, func(i int) {
		ctx, cancel := bg, context.CancelFunc(func() {})
		if i%2 == 0 {
			ctx, cancel = context.WithCancel(bg)
		}
		defer cancel()
		key := fmt.Sprint("own ", i)
		for j := range 8 {
			if err := rdb.Set(ctx, key, j, 0).Err(); err != nil {
				t.Error(err)
			}
			if v, err := rdb.Get(ctx, key).Int(); v != j || err != nil {
				t.Errorf("goroutine %d wrote %d, read %d, %v", i, j, v, err)
			}
		}
	})
	mustShare(t, ap)
	if s := ap.Stats(); s.MeanBatch() < 5 {
		t.Errorf("2000 callers, but %v", s)
	}
}
