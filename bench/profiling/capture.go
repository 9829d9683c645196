// Package profiling takes profiles of a run and makes them readable: a table of the
// costliest functions and a flame graph, beside the files for "go tool pprof".
package profiling

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	pushed "github.com/grafana/pyroscope-go/http/pprof"
)

// Want is which profiles to take. CPU and heap always are: they cost a few percent.
type Want struct {
	Mutex, Block, Trace bool
	// Shared is set when something pushes CPU profiles at the same time. The runtime
	// has one CPU profiler only, so both then get the same profile.
	Shared bool
}

// Contention reports whether the run is slowed so much that its numbers must not be
// published.
func (w Want) Contention() bool { return w.Mutex || w.Block || w.Trace }

// Capture is a set of profiles being taken.
type Capture struct {
	dir     string
	want    Want
	stopCPU func() error
	stop    []func() error
}

// Start taking profiles into files of dir.
func Start(dir string, want Want) (*Capture, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	c := &Capture{dir: dir, want: want}
	if want.Mutex {
		old := runtime.SetMutexProfileFraction(10)
		c.stop = append(c.stop, c.writer("mutex"), func() error { runtime.SetMutexProfileFraction(old); return nil })
	}
	if want.Block {
		runtime.SetBlockProfileRate(10_000) // one sample per 10 µs blocked
		c.stop = append(c.stop, c.writer("block"), func() error { runtime.SetBlockProfileRate(0); return nil })
	}
	if want.Trace {
		f, err := os.Create(c.path("trace.out"))
		if err != nil {
			return nil, err
		}
		if err := trace.Start(f); err != nil {
			f.Close()
			return nil, err
		}
		c.stop = append(c.stop, func() error { trace.Stop(); return f.Close() })
	}
	f, err := os.Create(c.path("cpu.pprof"))
	if err != nil {
		return nil, err
	}
	if want.Shared {
		c.stopCPU = shareCPU(f)
		return c, nil
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, err
	}
	c.stopCPU = func() error { pprof.StopCPUProfile(); return f.Close() }
	return c, nil
}

// shareCPU takes the profile through the pushing client, which tees it. Its only door
// is an HTTP handler that runs until the request is cancelled.
func shareCPU(f *os.File) func() error {
	ctx, cancel := context.WithCancel(context.Background())
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/?seconds=86400", nil)
	w := &fileResponse{File: f, header: http.Header{}}
	done := make(chan struct{})
	go func() { defer close(done); pushed.Profile(w, req) }()
	return func() error {
		cancel()
		<-done
		if w.status >= 400 {
			f.Close()
			return errors.New("the pushing client gave no CPU profile")
		}
		return f.Close()
	}
}

// fileResponse is a response that is a file.
type fileResponse struct {
	*os.File
	header http.Header
	status int
}

func (r *fileResponse) Header() http.Header    { return r.header }
func (r *fileResponse) WriteHeader(status int) { r.status = status }

// Stop taking profiles; the files are complete when it returns.
func (c *Capture) Stop() error {
	err := c.stopCPU()
	// The heap profile is that of the last collection.
	runtime.GC()
	for _, f := range append(c.stop, c.writer("heap")) {
		err = errors.Join(err, f())
	}
	return err
}

func (c *Capture) path(name string) string { return filepath.Join(c.dir, name) }

// writer of one of the runtime's own profiles.
func (c *Capture) writer(name string) func() error {
	return func() error {
		f, err := os.Create(c.path(name + ".pprof"))
		if err != nil {
			return err
		}
		err = pprof.Lookup(name).WriteTo(f, 0)
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return fmt.Errorf("%s profile: %w", name, err)
		}
		return nil
	}
}
