package redistest

import (
	"bytes"
	"errors"
	"strconv"
)

var errProtocol = errors.New("redistest: not the Redis protocol")

// maxSize is more than Redis allows a length to be, and so small that sums of
// lengths cannot overflow.
const maxSize = 1 << 30

// frameScanner finds where one RESP value ends, in bytes that arrive in
// pieces. It remembers how far it got, so that a large array is not scanned
// from its beginning for every piece. It reads requests (arrays, or one inline
// line) as well as replies of RESP2 and RESP3.
type frameScanner struct {
	inline bool // a value that starts with no RESP type is a line: requests
	begun  bool
	need   int // values still to be read
	pos    int // where the next one begins, from the start of the frame
}

// next returns the length of the frame at the start of b, and 0 if it is not
// complete yet: then call it again with the same bytes and more behind them.
func (s *frameScanner) next(b []byte) (int, error) {
	if !s.begun {
		s.begun, s.need, s.pos = true, 1, 0
	}
	for s.need > 0 {
		if s.pos >= len(b) {
			return 0, nil
		}
		end := bytes.IndexByte(b[s.pos:], '\n')
		if end < 0 {
			return 0, nil
		}
		line := b[s.pos : s.pos+end+1]
		body, more, err := s.element(line)
		if err != nil {
			return 0, err
		}
		s.need += more - 1
		s.pos += len(line) + body
	}
	if s.pos > len(b) {
		return 0, nil
	}
	s.begun = false
	return s.pos, nil
}

// element reads one header line: how many bytes of body follow it and how many
// values belong to it.
func (s *frameScanner) element(line []byte) (body, more int, err error) {
	kind := line[0]
	switch kind {
	case '+', '-', ':', '_', ',', '#', '(':
		return 0, 0, nil
	case '$', '=', '!', '*', '~', '>', '%', '|':
	default:
		if s.inline && s.pos == 0 {
			return 0, 0, nil
		}
		return 0, 0, errProtocol
	}
	n, err := strconv.Atoi(string(bytes.TrimRight(line[1:], "\r\n")))
	if err != nil || n > maxSize {
		return 0, 0, errProtocol
	}
	if n < 0 { // a null
		return 0, 0, nil
	}
	switch kind {
	case '$', '=', '!':
		return n + 2, 0, nil
	case '%':
		return 0, 2 * n, nil
	case '|': // attributes stand before the value that they describe
		return 0, 2*n + 1, nil
	}
	return 0, n, nil
}

// requestArgs returns the arguments of a complete request frame. They point
// into the frame.
func requestArgs(frame []byte) [][]byte {
	if frame[0] != '*' {
		return bytes.Fields(frame)
	}
	var args [][]byte
	_, rest, _ := bytes.Cut(frame, []byte("\n"))
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		if len(line) < 2 || line[0] != '$' {
			break
		}
		n, err := strconv.Atoi(string(bytes.TrimRight(line[1:], "\r")))
		if err != nil || n < 0 || n+2 > len(after) {
			break
		}
		args = append(args, after[:n])
		rest = after[n+2:]
	}
	return args
}

// pushKind returns the first word of a RESP3 push frame, such as "message".
func pushKind(frame []byte) string {
	args := requestArgs(append([]byte("*"), frame[1:]...))
	if len(args) == 0 {
		return ""
	}
	return string(bytes.ToLower(args[0]))
}
