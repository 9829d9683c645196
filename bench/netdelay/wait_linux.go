package netdelay

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// waiter sleeps precisely. Go's own timers wake an idle program up to a
// millisecond late on Linux (epoll counts milliseconds), which is more than the
// shortest link we imitate. A timerfd in the same epoll fires to the microsecond.
type waiter struct {
	fd   int
	file *os.File
}

func newWaiter() (waiter, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return waiter{}, os.NewSyscallError("timerfd_create", err)
	}
	return waiter{fd, os.NewFile(uintptr(fd), "timerfd")}, nil
}

func (w waiter) sleep(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(w.fd, 0, &spec, nil); err != nil {
		time.Sleep(d)
		return
	}
	var ticks [8]byte
	_, _ = w.file.Read(ticks[:])
}

func (w waiter) close() { w.file.Close() }
