package autopipe

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestLane_RetryBackoff: a command that could not be sent is tried again after a pause that grows as go-redis's does, as
// often as allowed, and then returns the error itself.
func TestLane_RetryBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{fail: func(int) error { return redis.ErrPoolTimeout }}
		h, get := newTestLane(w, WithMaxRetries(4), WithRetryBackoff(8*time.Millisecond, 40*time.Millisecond))
		start := time.Now()
		if err := get(bg, "k"); err != redis.ErrPoolTimeout {
			t.Errorf("error %v, want ErrPoolTimeout itself", err)
		}
		// Pauses: 8 + [0,16), 8 + [0,32), then at most 40 each.
		if d := time.Since(start); d < 4*8*time.Millisecond || d > (24+40+40+40)*time.Millisecond {
			t.Errorf("pauses of %v together", d)
		}
		if s := h.Stats(); len(w.sent) != 5 || s.Retries["pool"] != 4 || s.Outcomes["transport_error"] != 1 {
			t.Errorf("%d sends, stats %v", len(w.sent), s)
		}
	})
}

func TestLane_RetryThatSucceeds(t *testing.T) {
	w := &wire{fail: func(n int) error {
		if n == 1 {
			return io.EOF
		}
		return nil
	}}
	h, get := newTestLane(w, WithRetryBackoff(0, 0))
	if err := get(bg, "k"); err != nil {
		t.Error(err)
	}
	if s := h.Stats(); s.Retries["transport"] != 1 || s.Outcomes["ok"] != 1 || s.Outcomes["transport_error"] != 0 || s.Commands != 2 {
		t.Errorf("stats %v", s)
	}
}

// TestLane_RetryPauseEndsWithContext: the pause before a retry is not longer than the caller's patience.
func TestLane_RetryPauseEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{fail: func(int) error { return redis.ErrPoolTimeout }}
		h, get := newTestLane(w, WithRetryBackoff(time.Second, time.Second))
		ctx, cancel := context.WithTimeout(bg, 10*time.Millisecond)
		defer cancel()
		if err := get(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want DeadlineExceeded", err)
		}
		if s := h.Stats(); s.Outcomes["cancelled"] != 1 || s.Outcomes["transport_error"] != 0 {
			t.Errorf("stats %v", s)
		}
	})
}
