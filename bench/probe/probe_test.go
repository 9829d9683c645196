package probe

import (
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/redis/go-redis/v9"
)

func TestParse(t *testing.T) {
	got := parse("# Stats\r\ntotal_reads_processed:17\r\nused_cpu_sys:0.25\r\nused_cpu_user:0.5\r\n" +
		"used_cpu_user_children:9\r\ncmdstat_get:calls=3,usec=4\r\ncmdstat_set:calls=5,usec=1\r\n" +
		"cmdstat_getrange:calls=7,usec=1\r\n")
	if want := (Counters{17, 8, 750 * time.Millisecond}); got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

func TestServerCountsWhatWeDid(t *testing.T) {
	srv := redistest.Run(t)
	s := NewServer(srv.Addr())
	defer s.Close()
	c := redis.NewClient(&redis.Options{Addr: srv.Addr(), PoolSize: 1, PipelinePoolSize: -1})
	defer c.Close()
	ctx := t.Context()
	if err := s.Fill(ctx, []string{"a", "b", "c"}, "v"); err != nil {
		t.Fatal(err)
	}
	c.Ping(ctx) // the connection's set-up is not what we measure

	before, err := s.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		c.Get(ctx, "a")
	}
	pipe := c.Pipeline()
	for range 100 {
		pipe.Set(ctx, "b", 1, 0)
	}
	_, _ = pipe.Exec(ctx)
	after, err := s.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d := after.Sub(before)
	if d.Calls != 110 {
		t.Errorf("%d calls, want 110", d.Calls)
	}
	if d.Reads != 11 {
		t.Errorf("%d reads, want 11", d.Reads)
	}
	if v, err := s.Version(ctx); v == "" || err != nil {
		t.Errorf("version %q, %v", v, err)
	}
}

func TestProcessMetersMove(t *testing.T) {
	before := ReadProcess()
	var keep [][]byte
	for start := time.Now(); time.Since(start) < 30*time.Millisecond; {
		keep = append(keep, make([]byte, 1000))
	}
	d := ReadProcess().Sub(before)
	if d.CPU <= 0 || d.Mallocs < uint64(len(keep)) || d.Bytes < 1000*uint64(len(keep)) {
		t.Errorf("%+v for %d allocations", d, len(keep))
	}
}

func TestBusyLeavesOutIdleTime(t *testing.T) {
	if got, want := busy("cpu  100 1 20 9999 888 3 2 4 50 6\ncpu0 1 1\n"), 130*tick; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := busy("nonsense"); got != 0 {
		t.Errorf("got %v", got)
	}
}
