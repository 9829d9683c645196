package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

const doTimeout = 5 * time.Second

// ReplyError is an error reply of the server, such as "ERR unknown command".
type ReplyError string

// Error returns the text that the server sent.
func (e ReplyError) Error() string { return string(e) }

// Do runs one command on a connection of its own and returns the reply: a
// string, an int64, nil or a []any of these. An error reply comes back as a
// [ReplyError]. It goes around go-redis on purpose: no pool, no hooks, no
// HELLO or CLIENT commands that would show up in the statistics of a test.
func (s *Server) Do(args ...string) (any, error) { return s.do(doTimeout, args...) }

func (s *Server) do(timeout time.Duration, args ...string) (any, error) {
	conn, err := net.DialTimeout("tcp", s.Addr(), timeout)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	r := bufio.NewReader(conn)
	if s.password != "" {
		if _, err := roundTrip(conn, r, "AUTH", s.password); err != nil {
			return nil, err
		}
	}
	return roundTrip(conn, r, args...)
}

func roundTrip(w io.Writer, r *bufio.Reader, args ...string) (any, error) {
	if _, err := w.Write(appendRequest(nil, args...)); err != nil {
		return nil, err
	}
	v, err := readReply(r)
	if err != nil {
		return nil, err
	}
	if e, ok := v.(ReplyError); ok {
		return nil, e
	}
	return v, nil
}

// appendRequest adds the wire form of a command to b.
func appendRequest(b []byte, args ...string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// readReply reads one RESP2 reply; an error reply is a value here, as it may
// be an element of an array.
func readReply(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil, errors.New("redistest: empty reply line")
	}
	kind, text := line[0], line[1:]
	switch kind {
	case '+':
		return text, nil
	case '-':
		return ReplyError(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("redistest: bad reply line %q", line)
	}
	switch {
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		return string(b[:n]), nil
	case kind == '*':
		list := make([]any, n)
		for i := range list {
			if list[i], err = readReply(r); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("redistest: bad reply line %q", line)
}

// text runs a command whose reply must be a string.
func (s *Server) text(args ...string) (string, error) {
	v, err := s.Do(args...)
	if err != nil {
		return "", fmt.Errorf("redistest: %s on %s: %w", strings.Join(args, " "), s.Addr(), err)
	}
	t, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("redistest: %s on %s: unexpected reply %v", strings.Join(args, " "), s.Addr(), v)
	}
	return t, nil
}
