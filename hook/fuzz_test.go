package hook_test

import (
	"encoding/binary"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/hook"
)

// fuzzForm gives a text one of the forms in which go-redis writes texts.
func fuzzForm(s string, kind byte) any {
	switch kind % 4 {
	case 1:
		return []byte(s)
	case 2:
		return &s
	case 3:
		return strings.ToUpper(s)
	}
	return s
}

// FuzzClassify: any words in any form. What must travel alone as plain strings never shares a batch in another form, and
// what may share one as XREAD or XREADGROUP has no BLOCK where Redis would read it.
func FuzzClassify(f *testing.F) {
	f.Add("get k", uint32(0))
	f.Add("SET k v", uint32(3))
	f.Add("xread count 1 streams block 0", uint32(0x1b))
	f.Add("xread block 0 streams s $", uint32(0x39))
	f.Add("xreadgroup group g streams block 5 streams s >", uint32(0x2aa))
	f.Add("xreadgroup group g streams streams s >", uint32(2))
	f.Add("client reply off", uint32(1))
	f.Add("blpop l 0", uint32(2))
	f.Add("eval return 0", uint32(0))
	f.Add("", uint32(0))
	f.Add("\xff\x00 k", uint32(1))
	c := hook.NewClassifier([]string{"getdel"}, []string{"xyzzy", "json.get"})
	f.Fuzz(func(t *testing.T, text string, kinds uint32) {
		words := strings.Split(text, " ")
		plain, formed := make([]any, len(words)), make([]any, len(words))
		for i, w := range words {
			plain[i] = strings.ToLower(w)
			formed[i] = fuzzForm(w, byte(kinds>>(2*min(i, 15))))
		}
		for _, topology := range []hook.Topology{hook.Single, hook.Several} {
			want, _ := c.Classify(cmdOf(plain...), topology)
			got, _ := c.Classify(cmdOf(formed...), topology)
			if want >= hook.NumClasses || got >= hook.NumClasses {
				t.Fatalf("%q: classes %d and %d of %d", words, want, got, hook.NumClasses)
			}
			if got == hook.Shared && want != hook.Shared {
				t.Errorf("%q in forms %x may share a batch, as plain strings it is class %d", words, kinds, want)
			}
			if got == hook.Shared && fuzzBlocks(plain) {
				t.Errorf("%q may share a batch and blocks", words)
			}
		}
	})
}

// fuzzBlocks reads the options of XREAD and XREADGROUP as Redis does, from the left.
func fuzzBlocks(args []any) bool {
	rest := args[1:]
	switch args[0] {
	case "xread":
	case "xreadgroup":
		rest = rest[min(3, len(rest)):]
	default:
		return false
	}
	for len(rest) > 0 && rest[0] != "streams" {
		if rest[0] == "block" {
			return true
		}
		if rest[0] == "noack" {
			rest = rest[1:]
		} else {
			rest = rest[min(2, len(rest)):]
		}
	}
	return false
}

// fuzzArgs makes arguments of many types from bytes: a type, then as many bytes as it needs.
func fuzzArgs(data []byte) []any {
	args := []any{"cmd"}
	take := func(n int) []byte {
		n = min(n, len(data))
		b := make([]byte, n)
		copy(b, data)
		data = data[n:]
		return b
	}
	number := func() uint64 {
		var b [8]byte
		copy(b[:], take(8))
		return binary.LittleEndian.Uint64(b[:])
	}
	for len(data) > 1 && len(args) < 20 {
		kind, n := data[0]%24, int(data[1]%64)
		data = data[2:]
		switch kind {
		case 0:
			args = append(args, string(take(n)))
		case 1:
			args = append(args, take(n))
		case 2:
			args = append(args, pointer(string(take(n))))
		case 3:
			args = append(args, nil, (*string)(nil), (*int)(nil), (*float64)(nil), (*bool)(nil), (*time.Time)(nil), (*time.Duration)(nil))
		case 4:
			args = append(args, int64(number()), int32(number()), int16(n), int8(n), n)
		case 5:
			args = append(args, number(), uint32(number()), uint16(n), uint8(n), uint(n), uintptr(n))
		case 6:
			args = append(args, math.Float64frombits(number()))
		case 7:
			args = append(args, math.Float32frombits(uint32(number())))
		case 8:
			args = append(args, n%2 == 0, pointer(n%2 == 1))
		case 9:
			args = append(args, time.Unix(int64(number()%(1<<40)), int64(n)).UTC())
		case 10:
			args = append(args, pointer(time.Unix(int64(number()%(1<<40)), int64(n)).UTC()))
		case 11:
			args = append(args, time.Duration(number()), pointer(time.Duration(number())))
		case 12:
			args = append(args, net.IP(take(n)))
		case 13:
			b := take(n)
			args = append(args, marshal(func() ([]byte, error) { return b, nil }))
		case 14:
			args = append(args, pointer(int64(number())), pointer(int32(n)), pointer(int16(n)), pointer(int8(n)), pointer(n))
		case 15:
			args = append(args, pointer(number()), pointer(uint32(n)), pointer(uint16(n)), pointer(uint8(n)), pointer(uint(n)), pointer(uintptr(n)))
		case 16:
			args = append(args, pointer(math.Float64frombits(number())), pointer(math.Float32frombits(uint32(n))))
		case 17:
			args = append(args, namedString(take(n)))
		default:
			args = append(args, string(take(n%8)))
		}
	}
	return args
}

// FuzzMeasure: Measure knows what go-redis refuses, and Freeze changes nothing in what it writes.
func FuzzMeasure(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x05hello\x01\x03abc\x02\x02xy"))
	for kind := range byte(18) {
		f.Add(append([]byte{kind, 9}, "123456789abcdefgh"...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		args := fuzzArgs(data)
		size, form := hook.Measure(args)
		want, err := rendered(t, args)
		if (err != nil) != (form&hook.Unencodable != 0) {
			t.Fatalf("%#v: form %b, but go-redis says %v", args, form, err)
		}
		texts := 0
		for _, a := range args {
			if s, ok := a.(string); ok {
				texts += len(s)
			}
		}
		if size < texts {
			t.Errorf("%#v: %d bytes of text, estimate %d", args, texts, size)
		}
		if err := hook.Freeze(args); err != nil {
			t.Fatalf("%#v: %v", args, err)
		}
		if got, again := rendered(t, args); got != want || (again != nil) != (err != nil) {
			t.Errorf("%#v: frozen it is %q, %v; want %q", args, got, again, want)
		}
		if _, frozen := hook.Measure(args); frozen&hook.UserCode != 0 || frozen&hook.Unencodable != form&hook.Unencodable {
			t.Errorf("%#v: form %b, frozen %b", args, form, frozen)
		}
	})
}
