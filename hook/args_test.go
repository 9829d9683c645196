package hook_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
)

// wire is a connection that keeps what go-redis writes and answers each write with an error reply. go-redis writes one
// command at once, if it fits its buffer.
type wire struct {
	mu      sync.Mutex
	written bytes.Buffer
	replies bytes.Buffer
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replies.WriteString("-ERR wire\r\n")
	return w.written.Write(p)
}

func (w *wire) Read(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.replies.Len() == 0 {
		return 0, io.EOF
	}
	return w.replies.Read(p)
}

func (*wire) Close() error                     { return nil }
func (*wire) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*wire) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*wire) SetDeadline(time.Time) error      { return nil }
func (*wire) SetReadDeadline(time.Time) error  { return nil }
func (*wire) SetWriteDeadline(time.Time) error { return nil }

// rendered is what go-redis sends for a command with these arguments, or its error.
func rendered(t testing.TB, args []any) (string, error) {
	t.Helper()
	w := &wire{}
	rdb := redis.NewClient(&redis.Options{
		Dialer:     func(context.Context, string, string) (net.Conn, error) { return w, nil },
		MaxRetries: -1, Protocol: 2, DisableIdentity: true, PoolSize: 1, PipelinePoolSize: -1,
	})
	defer func() { _ = rdb.Close() }()
	var start int
	rdb.AddHook(onSend(func() {
		w.mu.Lock()
		start = w.written.Len() // behind the set-up of the connection
		w.mu.Unlock()
	}))
	rdb.Ping(context.Background())
	err := rdb.Process(context.Background(), redis.NewCmd(context.Background(), args...))
	if redis.HasErrorPrefix(err, "wire") {
		err = nil
	}
	return w.written.String()[start:], err
}

type onSend func()

func (f onSend) DialHook(next redis.DialHook) redis.DialHook { return next }
func (f onSend) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { f(); return next(ctx, cmd) }
}
func (f onSend) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

type marshal func() ([]byte, error)

func (m marshal) MarshalBinary() ([]byte, error) { return m() }

type namedString string
type namedBytes []byte

func pointer[T any](v T) *T { return &v }

// TestFreeze: go-redis writes the same bytes before and after, for all kinds of arguments, and Measure tells the kind.
func TestFreeze(t *testing.T) {
	when := time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC)
	addr, link := netip.MustParseAddr("::1"), &url.URL{Scheme: "redis", Host: "h:1"}
	const none = hook.Form(0)
	tests := []struct {
		form hook.Form
		args []any
	}{
		{none, []any{nil, "", "text", "a\r\nb", int(-1), int8(-8), int16(16), int32(32), int64(math.MinInt64)}},
		{none, []any{uint(1), uint8(8), uint16(16), uint32(32), uint64(math.MaxUint64), uintptr(7)}},
		{none, []any{float32(1.5), 2.25, math.Inf(1), math.Copysign(0, -1), 1e300, math.SmallestNonzeroFloat64, true, false}},
		{none, []any{when, time.Time{}, time.Second, time.Duration(-1)}},
		{hook.Refs, []any{[]byte("bytes")}},
		{hook.Refs, []any{[]byte{}}},
		{hook.Refs, []any{[]byte(nil)}},
		{hook.Refs, []any{pointer("s"), (*string)(nil)}},
		{hook.Refs, []any{pointer(1), pointer(int8(2)), pointer(int16(3)), pointer(int32(4)), pointer(int64(5))}},
		{hook.Refs, []any{(*int)(nil), (*int8)(nil), (*int16)(nil), (*int32)(nil), (*int64)(nil)}},
		{hook.Refs, []any{pointer(uint(1)), pointer(uint8(2)), pointer(uint16(3)), pointer(uint32(4)), pointer(uint64(5)), pointer(uintptr(6))}},
		{hook.Refs, []any{(*uint)(nil), (*uint8)(nil), (*uint16)(nil), (*uint32)(nil), (*uint64)(nil), (*uintptr)(nil)}},
		{hook.Refs, []any{pointer(float32(1.5)), pointer(2.5), (*float32)(nil), (*float64)(nil)}},
		{hook.Refs, []any{pointer(true), pointer(false), (*bool)(nil)}},
		{hook.Refs, []any{pointer(when), (*time.Time)(nil), pointer(time.Minute), (*time.Duration)(nil)}},
		{hook.Refs, []any{net.IPv4(1, 2, 3, 4), net.ParseIP("::1"), net.IP(nil)}},
		{hook.UserCode, []any{marshal(func() ([]byte, error) { return []byte("encoded"), nil })}},
		{hook.UserCode, []any{marshal(func() ([]byte, error) { return nil, nil }), addr, &addr, link}},
		{hook.UserCode | hook.Refs, []any{"x", []byte("y"), marshal(func() ([]byte, error) { return []byte("z"), nil })}},
	}
	for _, tt := range tests {
		args := append([]any{"cmd"}, tt.args...)
		if _, form := hook.Measure(args); form != tt.form {
			t.Errorf("%#v: form %b, want %b", tt.args, form, tt.form)
		}
		want, err := rendered(t, args)
		if err != nil || len(want) == 0 {
			t.Errorf("%#v: go-redis wrote %q, %v", tt.args, want, err)
		}
		frozen := append([]any(nil), args...)
		if err := hook.Freeze(frozen); err != nil {
			t.Errorf("%#v: %v", tt.args, err)
		}
		if got, err := rendered(t, frozen); got != want || err != nil {
			t.Errorf("%#v: frozen it is %q, %v; want %q", tt.args, got, err, want)
		}
		if _, form := hook.Measure(frozen); form&^hook.Refs != 0 {
			t.Errorf("%#v: frozen it still has form %b", tt.args, form)
		}
		if again, err := rendered(t, args); again != want || err != nil {
			t.Errorf("%#v: Freeze of a copy changed the original to %q, %v", tt.args, again, err)
		}
	}
}

// TestFreeze_Unencodable: what go-redis refuses is told, and left as it is, so that go-redis's own error comes.
func TestFreeze_Unencodable(t *testing.T) {
	type point struct{ X, Y int }
	for _, arg := range []any{
		struct{}{}, point{}, &point{}, []string{"a"}, []any{1}, map[string]int{}, make(chan int), func() {}, complex(1, 2),
		namedString("s"), namedBytes("b"), pointer(pointer("s")), pointer([]byte("b")), errors.New("e"), [3]byte{}, (*point)(nil),
	} {
		args := []any{"cmd", arg, []byte("x")}
		if _, form := hook.Measure(args); form&hook.Unencodable == 0 {
			t.Errorf("%T: form %b, want Unencodable", arg, form)
		}
		_, want := rendered(t, args)
		if want == nil {
			t.Errorf("%T: go-redis takes it", arg)
			continue
		}
		if err := hook.Freeze(args); err != nil {
			t.Errorf("%T: Freeze: %v", arg, err)
		}
		if _, err := rendered(t, args); err == nil || err.Error() != want.Error() {
			t.Errorf("%T: frozen the error is %v, want %v", arg, err, want)
		}
	}
}

// TestFreeze_MarshalFails: the marshaller's own error comes back, and its panic passes.
func TestFreeze_MarshalFails(t *testing.T) {
	fails := errors.New("no")
	args := []any{"cmd", []byte("x"), marshal(func() ([]byte, error) { return []byte("half"), fails })}
	if err := hook.Freeze(args); err != fails { //nolint:errorlint // the very error
		t.Errorf("error %v, want %v", err, fails)
	}
	var nobody *url.URL // its MarshalBinary needs one
	for _, arg := range []any{marshal(func() ([]byte, error) { panic("ouch") }), nobody} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T: the panic did not pass", arg)
				}
			}()
			_ = hook.Freeze([]any{"cmd", arg})
		}()
	}
}

// TestFreeze_IsACopy: afterwards nobody can change what will be written.
func TestFreeze_IsACopy(t *testing.T) {
	b, own, s, n, ip := []byte("bytes"), []byte("own buffer"), "text", 1, net.IPv4(1, 2, 3, 4)
	args := []any{"cmd", b, &s, &n, ip, marshal(func() ([]byte, error) { return own, nil })}
	want, _ := rendered(t, args)
	if err := hook.Freeze(args); err != nil {
		t.Fatal(err)
	}
	clear(b)
	clear(own)
	clear(ip)
	s, n = "other", 2
	if got, err := rendered(t, args); got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestMeasure: near the true size for what is large, and free of user code and garbage.
func TestMeasure(t *testing.T) {
	for _, args := range [][]any{
		{}, {"get", "k"}, {"set", "k", make([]byte, 10_000)}, {"set", "k", string(make([]byte, 10_000))},
		{"mset", "a", 1, "b", 2.5, "c", nil}, {"set", "k", pointer(string(make([]byte, 5000)))}, {"x", net.IPv4(1, 2, 3, 4)},
	} {
		sent, err := rendered(t, args)
		if err != nil {
			t.Fatal(err)
		}
		if size, _ := hook.Measure(args); size < len(sent) || size > len(sent)+16*(len(args)+1) {
			t.Errorf("%d arguments of %d bytes: estimate %d", len(args), len(sent), size)
		}
	}
	user := marshal(func() ([]byte, error) { panic("Measure runs user code") })
	args := []any{"set", "k", user, []byte("b"), pointer("s"), 1, time.Second, (*string)(nil), struct{}{}}
	if n := testing.AllocsPerRun(100, func() { hook.Measure(args) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
