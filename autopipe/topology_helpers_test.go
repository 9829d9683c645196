package autopipe_test

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// The two ways to put the hook on a client that speaks to several nodes.
var hookWays = []string{"AddHook", "Attach"}

// hookBy puts a fresh hook on rdb in one of the hookWays.
func hookBy(way string, rdb redis.UniversalClient, opts ...autopipe.Option) *autopipe.Hook {
	if way == "Attach" {
		return autopipe.Attach(rdb, opts...)
	}
	ap := autopipe.New(opts...)
	rdb.AddHook(ap)
	return ap
}

// untilWithin is until for what takes longer, such as a failover.
func untilWithin(t *testing.T, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain for: %s", limit, what)
		}
	}
}

// returns fails the test if wait does not return in time: a call hangs.
func returns(t *testing.T, wait func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { wait(); close(done) }()
	untilWithin(t, time.Minute, "every call returns", func() bool { return isClosed(done) })
}

// tally is what the callers know of the INCRs of one key.
type tally struct {
	key                   string
	ok, uncertain, failed atomic.Int64
}

// incr sends one INCR and notes how it ended.
func (c *tally) incr(rdb redis.Cmdable) error {
	err := rdb.Incr(bg, c.key).Err()
	switch {
	case err == nil:
		c.ok.Add(1)
	case isUncertain(err):
		c.uncertain.Add(1)
	default: // whatever it is: it must not have run
		c.failed.Add(1)
	}
	return err
}

// check compares the counter with what the callers know: at least low (the acknowledged ones, unless Redis itself may
// have lost some), at most those that may have run.
func (c *tally) check(t *testing.T, counter, low int64) {
	t.Helper()
	if high := c.ok.Load() + c.uncertain.Load(); counter < low || counter > high {
		t.Errorf("counter %q is %d, want %d to %d: %v", c.key, counter, low, high, c)
	}
}

func (c *tally) String() string {
	return fmt.Sprintf("%d ok, %d uncertain, %d failed", c.ok.Load(), c.uncertain.Load(), c.failed.Load())
}

// checkStats compares the hook's counts with the callers' own.
func checkStats(t *testing.T, ap *autopipe.Hook, all ...*tally) {
	t.Helper()
	var ok, uncertain, failed int64
	for _, c := range all {
		ok, uncertain, failed = ok+c.ok.Load(), uncertain+c.uncertain.Load(), failed+c.failed.Load()
	}
	s := ap.Stats()
	if s.Outcomes["ok"] != uint64(ok) || s.Outcomes["uncertain"] != uint64(uncertain) ||
		s.Outcomes["transport_error"]+s.Outcomes["server_error"] != uint64(failed) {
		t.Errorf("%d ok, %d uncertain, %d failed, but %v", ok, uncertain, failed, s)
	}
}

// keyOn finds a key for each of the servers, by where the cluster serves it.
func keyOn(t *testing.T, c *redistest.Cluster, servers []*redistest.Server) map[*redistest.Server]string {
	t.Helper()
	keys := map[*redistest.Server]string{}
	for i := 0; len(keys) < len(servers); i++ {
		k := fmt.Sprint("key", i)
		owner, err := c.Owner(redistest.Slot(k))
		if err != nil {
			t.Fatal(err)
		}
		if _, have := keys[owner]; !have {
			keys[owner] = k
		}
	}
	return keys
}

// offset is how much of the replication stream a server has, as master or as replica.
func offset(t *testing.T, srv *redistest.Server) int64 {
	t.Helper()
	field := "master_repl_offset"
	if serverInfo(t, srv, "replication", "role") == "slave" {
		field = "slave_repl_offset"
	}
	n, err := strconv.ParseInt(serverInfo(t, srv, "replication", field), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// replicated waits until the replicas have what the master has now.
func replicated(t *testing.T, master *redistest.Server, replicas ...*redistest.Server) {
	t.Helper()
	now := offset(t, master)
	for _, r := range replicas {
		untilWithin(t, time.Minute, "replication", func() bool { return offset(t, r) >= now })
	}
}

// counterOn reads a counter of a server around all clients; a missing one is 0.
func counterOn(t *testing.T, srv *redistest.Server, key string) int64 {
	t.Helper()
	v := serverDo(t, srv, "GET", key)
	if v == nil {
		return 0
	}
	n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
