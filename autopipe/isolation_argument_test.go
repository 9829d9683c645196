package autopipe_test

import (
	"context"
	"errors"
	"testing"
)

// marshalFunc is an argument whose encoding is user code.
type marshalFunc func() ([]byte, error)

func (m marshalFunc) MarshalBinary() ([]byte, error) { return m() }

var errMarshal = errors.New("this marshaller fails")

// TestIsolation_UnencodableArgument: only the call with such an argument fails, with the words of go-redis.
func TestIsolation_UnencodableArgument(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t)
		for _, arg := range []any{struct{}{}, map[string]int{}, []string{"a"}, make(chan int), complex(1, 2), func() {}} {
			want := r.plain.Set(ctx, r.key("k"), arg, 0).Err()
			if want == nil {
				t.Fatalf("plain go-redis takes %T", arg)
			}
			r.amid(ctx, batched, false, func() {
				if err := r.rdb.Set(ctx, r.key("k"), arg, 0).Err(); err == nil || err.Error() != want.Error() {
					t.Errorf("SET of a %T: error %v, want %v", arg, err, want)
				}
			})
		}
	})
}

// TestIsolation_MarshalError: a failing MarshalBinary fails its own call, with its own error.
func TestIsolation_MarshalError(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t)
		arg := marshalFunc(func() ([]byte, error) { return nil, errMarshal })
		r.amid(ctx, batched, false, func() {
			if err := r.rdb.Set(ctx, r.key("k"), arg, 0).Err(); !errors.Is(err, errMarshal) {
				t.Errorf("error %v, want %v", err, errMarshal)
			}
		})
	})
}

// TestIsolation_MarshalErrorIsCounted: it is a command that returned, as one with an argument that has no encoding is.
func TestIsolation_MarshalErrorIsCounted(t *testing.T) {
	r := newRig(t)
	for _, arg := range []any{marshalFunc(func() ([]byte, error) { return nil, errMarshal }), struct{}{}} {
		before := r.ap.Stats()
		_ = r.rdb.Set(context.Background(), r.key("k"), arg, 0).Err()
		after := r.ap.Stats()
		if after.Direct["encoder"] != before.Direct["encoder"]+1 || after.Outcomes["transport_error"] != before.Outcomes["transport_error"]+1 {
			t.Errorf("SET of a %T: from %v to %v; want one more for encoder and for transport_error", arg, before, after)
		}
	}
}

// TestIsolation_MarshalOnce: an encoding that works goes out as it is, from its caller's goroutine, and is made once.
func TestIsolation_MarshalOnce(t *testing.T) {
	everyWay(t, func(t *testing.T, ctx context.Context, batched bool) {
		r := newRig(t)
		runs := 0 // not atomic: -race tells if another goroutine encodes
		arg := marshalFunc(func() ([]byte, error) { runs++; return []byte("encoded"), nil })
		r.amid(ctx, batched, false, func() {
			if err := r.rdb.Set(ctx, r.key("k"), arg, 0).Err(); err != nil {
				t.Error(err)
			}
		})
		if v := r.plain.Get(ctx, r.key("k")).Val(); v != "encoded" || runs != 1 {
			t.Errorf("stored %q after %d encodings, want %q after 1", v, runs, "encoded")
		}
	})
}
