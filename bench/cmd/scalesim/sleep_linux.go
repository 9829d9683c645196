package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// precise makes the kernel wake this thread when it asked to be, not up to 50 us later.
func precise() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }

func sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	if err := unix.Nanosleep(&t, nil); err != nil && err != unix.EINTR {
		time.Sleep(d)
	}
}
