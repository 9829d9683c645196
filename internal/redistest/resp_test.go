package redistest

import (
	"fmt"
	"strings"
	"testing"
)

// Every frame is fed byte by byte, with another frame behind it: the scanner
// must find the same end as when it sees all at once.
func TestFrameScanner(t *testing.T) {
	for _, f := range []string{
		"+OK\r\n", "-ERR no\r\n", ":7\r\n", "_\r\n", ",1.5\r\n", "#t\r\n", "(123\r\n",
		"$0\r\n\r\n", "$-1\r\n", "$5\r\na\r\nbc\r\n", "=7\r\ntxt:a\r\n\r\n", "!3\r\nERR\r\n",
		"*0\r\n", "*-1\r\n", "*2\r\n$1\r\na\r\n*1\r\n:1\r\n", "~1\r\n+a\r\n",
		"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n$1\r\nx\r\n", "%0\r\n",
		"|1\r\n+ttl\r\n:3\r\n$1\r\nv\r\n", ">2\r\n+message\r\n$2\r\nhi\r\n",
	} {
		all := []byte(f + "+NEXT\r\n")
		var whole frameScanner
		if n, err := whole.next(all); err != nil || n != len(f) {
			t.Errorf("%q: %d, %v at once, want %d", f, n, err, len(f))
		}
		var s frameScanner
		for i := 1; i <= len(all); i++ {
			n, err := s.next(all[:i])
			if err != nil {
				t.Fatalf("%q: %v", all[:i], err)
			}
			if n != 0 && (n != len(f) || i != len(f)) {
				t.Errorf("%q: %d after %d bytes, want %d", f, n, i, len(f))
			}
			if n != 0 {
				break
			}
		}
	}
	for _, bad := range []string{"hello\r\n", "$x\r\n", "*?\r\n", "$9223372036854775807\r\n", "%9223372036854775807\r\n"} {
		var s frameScanner
		if _, err := s.next([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestRequestArgs(t *testing.T) {
	for in, want := range map[string]string{
		"*3\r\n$3\r\nSET\r\n$3\r\na\r\n\r\n$0\r\n\r\n": `["SET" "a\r\n" ""]`,
		"*1\r\n$4\r\nPING\r\n":                         `["PING"]`,
		"PING  hi\r\n":                                 `["PING" "hi"]`,
		"\r\n":                                         `[]`,
		"*0\r\n":                                       `[]`,
	} {
		s := frameScanner{inline: true}
		n, err := s.next([]byte(in))
		if err != nil || n != len(in) {
			t.Errorf("%q: length %d, %v", in, n, err)
		}
		if got := fmt.Sprintf("%q", requestArgs([]byte(in))); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func FuzzFrameScanner(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\na\r\n%1\r\n+a\r\n:1\r\n"))
	f.Add([]byte(strings.Repeat("*1\r\n", 5)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var whole, parts frameScanner
		want, wantErr := whole.next(b)
		if want < 0 || want > len(b) {
			t.Fatalf("length %d of %d", want, len(b))
		}
		if want > 0 {
			requestArgs(b[:want])
		}
		for i := range b {
			n, err := parts.next(b[:i+1])
			if err != nil {
				if wantErr == nil && (want == 0 || i+1 <= want) {
					t.Fatalf("error %v only in pieces", err)
				}
				return
			}
			if n != 0 {
				if n != want {
					t.Fatalf("%d in pieces, %d at once", n, want)
				}
				return
			}
		}
	})
}
