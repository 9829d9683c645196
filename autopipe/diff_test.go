package autopipe_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// Go-redis itself is the judge: every method of redis.Cmdable that works on the server is called, with the same
// arguments in the same order, through a plain client and through a hooked one that others keep busy, each with a server
// of its own that holds the same data. Values and error texts must be the same.

// The test fails if it compares less than this: a change that makes it pass over commands must be seen.
const (
	diffMethods = 290 // methods that worked at least once
	diffShared  = 280 // methods whose command rode in a batch with others
)

// diffCtx is the context of all calls of one run.
var diffCtx context.Context

// diffCase is one call of a method.
type diffCase struct {
	method string
	call   func(c redis.Cmdable) redis.Cmder
	after  bool // finds the data as the case before left it
}

// diffCall calls one method and turns a panic (arguments that go-redis refuses) into text.
func diffCall(c diffCase, rdb redis.Cmdable) (cmd redis.Cmder, panicked string) {
	defer func() {
		if r := recover(); r != nil {
			panicked = fmt.Sprint(r)
		}
	}()
	return c.call(rdb), ""
}

func TestDiff_EveryMethod(t *testing.T) {
	byHand := diffByHand()
	for _, mode := range []struct {
		name   string
		leave  bool // a caller that can leave has its command travel as a copy, and the reply copied back
		kind   func(method string) string
		byHand []diffCase
	}{
		{"right type", false, diffKind, byHand},
		{"right type, RESP2", false, diffKind, byHand},
		{"right type, may leave", true, diffKind, byHand},
		{"wrong type, may leave", true, func(m string) string { return map[bool]string{true: "list", false: "text"}[diffKind(m) == "text"] }, nil},
		{"no such key", false, func(string) string { return "" }, nil},
	} {
		t.Run(mode.name, func(t *testing.T) {
			cases := append(diffMade(), mode.byHand...)
			diffCtx = bg
			if mode.leave {
				var cancel context.CancelFunc
				diffCtx, cancel = context.WithTimeout(bg, time.Minute)
				defer cancel()
			}
			opt := func(o *redis.Options) {
				if strings.Contains(mode.name, "RESP2") {
					o.Protocol = 2
				}
			}
			own := redistest.Run(t)
			plain, setup, rec := redistest.Run(t).Client(t, opt), own.Client(t), newRecorder()
			rdb, ap := hookedOn(t, own, opt, autopipe.WithMaxInFlight(1)) // one in flight: whoever comes meanwhile shares
			rdb.AddHook(rec)
			stop := company(2, func(int) { rdb.Get(bg, "nobody has this key") })
			defer stop()

			worked, shared, calls := map[string]bool{}, map[string]bool{}, 0
			last := ""
			for _, c := range cases {
				if c.method != last && !c.after { // each method finds the data as it was
					last = c.method
					diffData(t, plain, mode.kind(c.method))
					diffData(t, setup, mode.kind(c.method))
				}
				a, pa := diffCall(c, plain)
				if pa == "" && reflect.ValueOf(a).IsNil() {
					continue
				}
				var name string
				before := 0
				if pa == "" {
					name = a.Name()
					before = diffCount(rec, name)
				}
				b, pb := diffCall(c, rdb)
				calls++
				if pa != "" || pb != "" {
					if pa != pb {
						t.Errorf("%s: panic %q, plain %q", c.method, pb, pa)
					}
					continue
				}
				if x, y := diffOutcome(c.method, a), diffOutcome(c.method, b); x != y {
					t.Errorf("%s: %v\n got   %.300s\n plain %.300s", c.method, a.Args(), y, x)
				}
				if name != "get" && diffCount(rec, name) > before {
					shared[c.method] = true
				}
				if a.Err() == nil || a.Err() == redis.Nil {
					worked[c.method] = true
				}
			}
			stop()
			t.Logf("%d calls of %d methods compared, of which %d worked on this server and %d shared a batch; %v",
				calls, len(diffNames(cases)), len(worked), len(shared), ap.Stats())
			for cause, n := range ap.Stats().Retries {
				if n != 0 {
					t.Errorf("%d commands had to be sent again (%s): one of the above broke its batch", n, cause)
				}
			}
			if mode.byHand != nil && len(worked) < diffMethods || len(shared) < diffShared {
				t.Errorf("%d methods worked and %d shared a batch; want %d and %d", len(worked), len(shared), diffMethods, diffShared)
			}
		})
	}
}

func diffCount(rec *recorder, name string) int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.shared[name]
}

func diffNames(cases []diffCase) []string {
	var names []string
	for _, c := range cases {
		names = append(names, c.method)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// An error reply is read well by every reply type that may share a batch, those of module commands that the user lets
// in included (this server answers each with "unknown command"): otherwise the replies behind it are lost.
func TestDiff_ErrorReplyHarmsNobody(t *testing.T) {
	srv := redistest.Run(t)
	diffCtx = bg
	cases := diffMade()
	pipe := srv.Client(t).Pipeline() // never sent: it tells the commands' names
	for _, c := range cases {
		diffCall(c, pipe)
	}
	var modules []string
	for _, cmd := range pipe.Cmds() {
		if strings.Contains(cmd.Name(), ".") {
			modules = append(modules, cmd.Name())
		}
	}
	rdb, ap := hookedOn(t, srv, nil, autopipe.WithMaxInFlight(1), autopipe.WithBatched(modules...))
	rec := newRecorder()
	rdb.AddHook(rec)
	var mu sync.Mutex
	failed := map[string]bool{}
	var now atomic.Value // the method that is being called
	now.Store("")
	stop := company(4, func(int) {
		method := now.Load()
		if err := rdb.Incr(bg, "company").Err(); err != nil {
			mu.Lock()
			failed[fmt.Sprintf("during %v: %v", method, err)] = true
			mu.Unlock()
		}
	})
	defer stop()
	for _, c := range cases {
		pipe.Discard()
		if diffCall(c, pipe); pipe.Len() == 0 || !strings.Contains(pipe.Cmds()[0].Name(), ".") {
			continue
		}
		now.Store(c.method)
		diffCall(c, rdb)
	}
	stop()
	for text := range failed {
		t.Error(text)
	}
	if rec.shared["ft.search"] == 0 || rec.shared["json.get"] == 0 || rec.shared["ts.get"] == 0 {
		t.Errorf("the commands of modules did not share batches: %v", ap.Stats())
	}
}
