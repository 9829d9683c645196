//go:build unix

package netdelay

import (
	"net"

	"golang.org/x/sys/unix"
)

// nonblocking returns a function that writes what the socket takes at once. The
// short way for small chunks: no goroutine is woken.
func nonblocking(conn *net.TCPConn) (func([]byte) (int, error), error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	// One closure for the connection's life; send calls it under the outlet's lock.
	var (
		buf  []byte
		n    int
		werr error
	)
	write := func(fd uintptr) bool {
		for {
			n, werr = unix.Write(int(fd), buf)
			if werr != unix.EINTR {
				return true
			}
		}
	}
	return func(b []byte) (int, error) {
		buf, n, werr = b, 0, nil
		if err := raw.Write(write); err != nil {
			return 0, err
		}
		buf = nil
		if werr == unix.EAGAIN {
			return 0, nil
		}
		return max(n, 0), werr
	}, nil
}
