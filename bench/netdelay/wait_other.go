//go:build !linux

package netdelay

import "time"

// waiter sleeps by the runtime's timers, which are precise where the kernel's
// event queue counts nanoseconds.
type waiter struct{}

func newWaiter() (waiter, error) { return waiter{}, nil }

func (waiter) sleep(d time.Duration) { time.Sleep(d) }

func (waiter) close() {}
