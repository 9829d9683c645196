package redistest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are taken from a range below the one from which the kernel picks the
// local ports of outgoing connections, so that no connection of a busy test
// can sit on a port while its server is down. A cluster node also listens on
// port+10000 (its bus); that range is below the kernel's as well and does not
// overlap this one. Ports that people fix by hand, such as 16600, lie below,
// those of other programs (FreePort) above.
const (
	portLow   = 17000
	portHigh  = 22000
	otherHigh = 27000
	busOffset = 10000
	loopback  = "127.0.0.1"
)

// ports remembers what this process has handed out. Other processes are kept
// apart by the bind itself: whoever comes second fails and tries another.
var ports = struct {
	sync.Mutex
	used map[int]bool
}{used: map[int]bool{}}

// reservePort returns a port that nobody listens on just now and that no other
// caller in this process gets before releasePort.
func reservePort() (int, error) {
	return pickPort(portLow, portHigh, func(p int) bool { return canListen(p) && canListen(p+busOffset) })
}

// FreePort returns a loopback port for a program that cannot choose one
// itself: nobody listens on it, no outgoing connection gets it, and neither a
// server of this package nor another caller in this process does.
func FreePort() (int, error) { return pickPort(portHigh, otherHigh, canListen) }

func pickPort(low, high int, free func(int) bool) (int, error) {
	for range 200 {
		p := low + rand.IntN(high-low)
		if !claimPort(p) {
			continue
		}
		if free(p) {
			return p, nil
		}
		releasePort(p)
	}
	return 0, errors.New("redistest: found no free port on " + loopback)
}

func claimPort(p int) bool {
	ports.Lock()
	defer ports.Unlock()
	if ports.used[p] {
		return false
	}
	ports.used[p] = true
	return true
}

func releasePort(p int) {
	ports.Lock()
	defer ports.Unlock()
	delete(ports.used, p)
}

func canListen(p int) bool {
	l, err := net.Listen("tcp", hostPort(p))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func hostPort(p int) string { return net.JoinHostPort(loopback, strconv.Itoa(p)) }

// portTakenError says that the server could not bind its port.
type portTakenError struct{ port int }

func (e *portTakenError) Error() string {
	return fmt.Sprintf("redistest: port %d is already in use on %s", e.port, loopback)
}
