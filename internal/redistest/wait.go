package redistest

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// await calls check until it returns nil, and after the timeout returns its
// last error, which should say what is still missing.
func await(timeout time.Duration, what string, check func() error) error {
	deadline := time.Now().Add(timeout)
	for {
		err := check()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("redistest: %s: not after %v: %w", what, timeout, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// startAll runs n starts at the same time. If one fails, it closes the others.
func startAll(n int, one func(i int) (*Server, error)) ([]*Server, error) {
	var (
		wg   sync.WaitGroup
		list = make([]*Server, n)
		errs = make([]error, n)
	)
	for i := range n {
		wg.Go(func() { list[i], errs[i] = one(i) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		_ = closeAll(list)
		return nil, err
	}
	return list, nil
}

func closeAll(list []*Server) error {
	var errs []error
	for _, s := range list {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

func addrs(list []*Server) []string {
	a := make([]string, len(list))
	for i, s := range list {
		a[i] = s.Addr()
	}
	return a
}
