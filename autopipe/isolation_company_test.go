package autopipe_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// TestIsolation_NoRetryCommands: commands that must not be retried work beside others and leave their retries alone.
func TestIsolation_NoRetryCommands(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t)
		key := r.key("k")
		r.plain.Set(ctx, key, "the value", 0)
		r.amid(ctx, batched, false, func() {
			buf := make([]byte, 64)
			if cmd := r.rdb.GetToBuffer(ctx, key, buf); cmd.Err() != nil || string(cmd.Bytes()) != "the value" {
				t.Errorf("GetToBuffer: %q, %v", cmd.Bytes(), cmd.Err())
			}
			if cmd := r.rdb.GetToBuffer(ctx, key, make([]byte, 2)); cmd.Err() == nil {
				t.Error("GetToBuffer into two bytes: no error")
			}
			var w bytes.Buffer
			if err := r.rdb.Process(ctx, redis.NewRawWriteToCmd(ctx, &w, "get", key)); err != nil || w.String() != "$9\r\nthe value\r\n" {
				t.Errorf("RawWriteTo: %q, %v", w.String(), err)
			}
			if err := r.rdb.Process(ctx, redis.NewRawWriteToCmd(ctx, badWriter{}, "get", key)); err == nil {
				t.Error("RawWriteTo to a failing writer: no error")
			}
		})
		// The neighbours' retries: the first GET's reply is lost together with that of all others, and all are read again.
		rule := r.proxy.CutAfterRequest("get " + r.key("hit"))
		r.amid(ctx, true, true, func() {
			if cmd := r.rdb.GetToBuffer(ctx, key, make([]byte, 64)); cmd.Err() != nil {
				t.Errorf("GetToBuffer: %v", cmd.Err())
			}
		})
		if rule.Fired() != 1 {
			t.Errorf("the connection was cut %d times, want 1", rule.Fired())
		}
	})
}

type badWriter struct{}

func (badWriter) Write([]byte) (int, error) { return 0, errors.New("this writer fails") }

// TestIsolation_LimiterRefuses: who is refused by Options.Limiter was certainly not sent, so nobody is uncertain.
func TestIsolation_LimiterRefuses(t *testing.T) {
	refused := errors.New("limiter says no")
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		lim := &limiter{err: refused}
		r := newRigOn(t, redistest.Shared(t), func(o *redis.Options) { o.Limiter = lim })
		call := func() {
			if err := r.rdb.Incr(ctx, r.key("n")).Err(); err != refused { //nolint:errorlint // the very error, as from go-redis
				t.Errorf("error %v, want %v", err, refused)
			}
		}
		if !batched {
			lim.on.Store(true)
			call()
			return
		}
		r.inner.onSend(func([]string) func() { lim.on.Store(true); return nil })
		r.together(call, call, call)
	})
}

type limiter struct {
	on  atomic.Bool
	err error
}

func (l *limiter) Allow() error {
	if l.on.Load() {
		return l.err
	}
	return nil
}

func (l *limiter) ReportResult(error) {}

// TestIsolation_InnerHookAnswers: a hook behind autopipe that answers a batch by itself, as a cache does, is believed.
func TestIsolation_InnerHookAnswers(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	r.inner.answer(func(cmds []redis.Cmder) error {
		for i, cmd := range cmds {
			if i == 1 {
				cmd.SetErr(redis.Nil)
			} else if s, ok := autopipe.Unwrap(cmd).(*redis.StringCmd); ok {
				s.SetVal("from the hook")
			}
		}
		return nil
	})
	hit := func() {
		if v, err := r.rdb.Get(ctx, "k").Result(); v != "from the hook" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
	}
	miss := func() {
		if err := r.rdb.Get(ctx, "k").Err(); err != redis.Nil {
			t.Errorf("error %v, want redis.Nil", err)
		}
	}
	r.together(hit, miss, hit)
	r.inner.answer(func([]redis.Cmder) error { return errMarshal })
	fail := func() {
		if err := r.rdb.Get(ctx, "k").Err(); !errors.Is(err, errMarshal) {
			t.Errorf("error %v, want the hook's", err)
		}
	}
	r.together(fail, fail)
	fail()
}
