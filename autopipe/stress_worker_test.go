package autopipe_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
)

// stressWorker is one goroutine. It has a key that nobody else writes.
type stressWorker struct {
	*stress
	rnd  *rand.Rand
	name string
	gen  int           // a key is left for good once it is not known what may still be written to it
	seq  int           // last value written
	cut  map[int]int64 // for each value of this generation, the cuts before it was sent
	last [stressCounters]int64
}

func (w *stressWorker) key() string   { return w.name + strconv.Itoa(w.gen) }
func (w *stressWorker) forget()       { w.gen, w.seq, w.cut = w.gen+1, 0, nil }
func (w *stressWorker) value() string { return w.key() + "=" + strconv.Itoa(w.seq) }

// context is one of the kinds that users have.
func (w *stressWorker) context() (context.Context, context.CancelFunc) {
	ctx := context.Background()
	switch w.rnd.IntN(8) {
	case 0:
		return context.WithTimeout(ctx, time.Duration(w.rnd.IntN(5000))*time.Microsecond)
	case 1:
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Duration(w.rnd.IntN(3000))*time.Microsecond, cancel)
		return ctx, cancel
	case 2, 3, 4:
		return context.WithCancel(ctx)
	}
	return ctx, func() {}
}

func (w *stressWorker) step() {
	ctx, cancel := w.context()
	defer cancel()
	switch p := w.rnd.IntN(100); {
	case p < 30:
		w.write(ctx, func(v string) error { return w.rdb.Set(ctx, w.key(), v, time.Minute).Err() })
	case p < 55:
		w.read(w.rdb.Get(ctx, w.key()).Result())
	case p < 67:
		w.incr(ctx)
	case p < 71:
		w.submit(ctx)
	case p < 75:
		w.window(ctx)
	case p < 80:
		if err := w.rdb.Get(ctx, w.name+"none").Err(); err == nil {
			w.t.Error("a key that nobody wrote has a value")
		}
	case p < 84:
		w.fails(w.rdb.LPush(ctx, w.key(), "x").Err(), "WRONGTYPE")
	case p < 87:
		w.fails(w.rdb.Set(ctx, w.name+"struct", struct{}{}, 0).Err(), "can't marshal")
	case p < 89:
		w.fails(w.rdb.Set(ctx, w.name+"m", marshalFunc(func() ([]byte, error) { return nil, errMarshal }), 0).Err(), errMarshal.Error())
	case p < 91:
		func() {
			defer func() {
				if v := recover(); v != "ouch" && ctx.Err() == nil {
					w.t.Errorf("a panicking marshaller ended with %v", v)
				}
			}()
			w.rdb.Set(ctx, w.name+"p", marshalFunc(func() ([]byte, error) { panic("ouch") }), 0)
		}()
	case p < 93: // too large for a batch
		w.write(ctx, func(v string) error {
			return w.rdb.Set(ctx, w.key(), v+strings.Repeat(" ", 200<<10), time.Minute).Err()
		})
	case p < 95:
		c := w.rdb.Conn()
		w.read(c.Get(ctx, w.key()).Result())
		_ = c.Close()
	case p < 97:
		w.watch(ctx)
	case p < 98:
		_ = w.rdb.BLPop(ctx, 10*time.Millisecond, w.name+"list").Err()
	default:
		var get *redis.StringCmd
		_, _ = w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			get = p.Get(ctx, w.key())
			p.Exists(ctx, w.key())
			return nil
		})
		w.read(get.Result())
	}
}

// write sends the next value by set.
func (w *stressWorker) write(ctx context.Context, set func(value string) error) {
	if w.cut == nil {
		w.cut = map[int]int64{0: 0}
	}
	old := w.seq
	w.seq++
	w.cut[w.seq] = w.cuts.Load()
	switch err := set(w.value()); {
	case err == nil:
	case errors.Is(err, autopipe.ErrQueueFull): // that one was not sent
		w.seq = old
	default: // it may have run, and may even arrive late; the error is the last sending's alone
		w.forget()
	}
}

// read holds a value against the last one written. An older one may come back if a connection broke since it was sent:
// the server may find it in its buffers after the retry. That is Redis's way, and go-redis's.
func (w *stressWorker) read(v string, err error) {
	if v = strings.TrimRight(v, " "); err == redis.Nil {
		v = w.key() + "=0"
	} else if err != nil {
		return
	}
	if v == w.value() {
		return
	}
	seq, e := strconv.Atoi(strings.TrimPrefix(v, w.key()+"="))
	if e != nil || seq == 0 || seq > w.seq || w.cut[seq] == w.cuts.Load() {
		w.t.Errorf("read %q, want %q", v, w.value())
	}
	w.forget()
}

func (w *stressWorker) incr(ctx context.Context) {
	i := w.rnd.IntN(stressCounters)
	w.counted(ctx, i, w.rdb.Incr(ctx, w.counter(i)))
}

// submit leaves the result of one INCR in three unread.
func (w *stressWorker) submit(ctx context.Context) {
	i := w.rnd.IntN(stressCounters)
	cmd := redis.NewIntCmd(ctx, "incr", w.counter(i))
	f := autopipe.Submit(ctx, w.rdb, cmd)
	if w.rnd.IntN(3) > 0 {
		_, _ = f.Wait(ctx)
	}
	w.counted(ctx, i, cmd)
}

// window submits two windows, and leaves the results of one in three unread.
func (w *stressWorker) window(ctx context.Context) {
	i := w.rnd.IntN(stressCounters)
	var opts []autopipe.WindowOption
	if w.rnd.IntN(4) == 0 {
		opts = append(opts, autopipe.WithUnordered())
	}
	win := autopipe.NewWindow(w.rdb, opts...)
	var all [2]*autopipe.Pending
	for j := range all {
		for range 1 + w.rnd.IntN(4) {
			win.Incr(ctx, w.counter(i))
			win.Get(ctx, w.name+"none")
		}
		all[j] = win.Submit(ctx)
	}
	for _, p := range all {
		w.last[i] = 0 // chaos's AddHook makes a new lane, and the windows on either side of it have no common order
		if w.rnd.IntN(3) > 0 {
			_ = p.Wait(ctx)
		}
		for _, cmd := range p.Cmds() {
			switch cmd := cmd.(type) {
			case *redis.IntCmd:
				w.counted(ctx, i, cmd)
			case *redis.StringCmd:
				if cmd.Val() != "" {
					w.t.Error("a key that nobody wrote has a value")
				}
			}
		}
	}
}

// counted enters the result of an INCR of counter i, or that it has none yet.
func (w *stressWorker) counted(ctx context.Context, i int, cmd *redis.IntCmd) {
	c := &w.counters[i]
	n, err := cmd.Result()
	switch {
	case err == nil && n == 0: // nobody has waited for it to the end
		c.maybe.Add(1)
	case err == nil:
		c.ok.Add(1)
		if n <= w.last[i] {
			w.t.Errorf("INCR gave %d after %d", n, w.last[i])
		}
		w.last[i] = n
	case stressUnknown(ctx, err):
		c.maybe.Add(1)
	}
}

// fails checks that a command that cannot succeed failed for its own reason, or for want of a connection or of time.
func (w *stressWorker) fails(err error, text string) {
	switch {
	case err == nil && text == "WRONGTYPE" && w.seq == 0: // no such key yet, and now it is a list
		w.forget()
	case err == nil:
		w.t.Errorf("no error, want %q", text)
	case strings.Contains(err.Error(), text):
	case isUncertain(err), isNetError(err), errors.Is(err, context.Canceled), errors.Is(err, autopipe.ErrQueueFull),
		errors.Is(err, redis.ErrPoolTimeout):
		if text == "WRONGTYPE" {
			w.forget()
		}
	default:
		w.t.Errorf("error %v, want %q", err, text)
	}
}

// watch writes the worker's key in a transaction, which nobody disturbs.
func (w *stressWorker) watch(ctx context.Context) {
	w.write(ctx, func(v string) error {
		return w.rdb.Watch(ctx, func(tx *redis.Tx) error {
			if err := tx.Get(ctx, w.key()).Err(); err != nil && err != redis.Nil {
				return err
			}
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, w.key(), v, time.Minute).Err() })
			return err
		}, w.key())
	})
}

// unknown reports whether the command may have run, or may yet run.
func stressUnknown(ctx context.Context, err error) bool {
	return isUncertain(err) || ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
