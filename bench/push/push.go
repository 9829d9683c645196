// Package push sends the profiles of a run to a Pyroscope server.
package push

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/grafana/pyroscope-go"
)

// App is the name under which the profiles are found.
const App = "autopipe.bench"

// Config of a push.
type Config struct {
	URL            string
	User, Password string // basic authentication
	Token          string // or a bearer token, which wins
	Tenant         string
	Tags           map[string]string
	// Mutex and Block ask for the contention profiles as well. They slow the program
	// down a lot.
	Mutex, Block bool
	// Every so often; zero is pyroscope-go's own 15 s.
	Every time.Duration
}

// FromEnv reads PYROSCOPE_URL, PYROSCOPE_USER, PYROSCOPE_PASSWORD, PYROSCOPE_TOKEN and
// PYROSCOPE_TENANT. Without a URL nothing is to be pushed, and ok is false.
func FromEnv() (c Config, ok bool) {
	c = Config{
		URL: os.Getenv("PYROSCOPE_URL"), User: os.Getenv("PYROSCOPE_USER"), Password: os.Getenv("PYROSCOPE_PASSWORD"),
		Token: os.Getenv("PYROSCOPE_TOKEN"), Tenant: os.Getenv("PYROSCOPE_TENANT"),
	}
	return c, c.URL != ""
}

// Session pushes until Stop.
type Session struct {
	profiler *pyroscope.Profiler
	log      *errorLog
}

// Start pushing.
func Start(c Config) (*Session, error) {
	types := []pyroscope.ProfileType{
		pyroscope.ProfileCPU,
		pyroscope.ProfileAllocObjects, pyroscope.ProfileAllocSpace,
		pyroscope.ProfileInuseObjects, pyroscope.ProfileInuseSpace,
		pyroscope.ProfileGoroutines,
	}
	if c.Mutex {
		types = append(types, pyroscope.ProfileMutexCount, pyroscope.ProfileMutexDuration)
	}
	if c.Block {
		types = append(types, pyroscope.ProfileBlockCount, pyroscope.ProfileBlockDuration)
	}
	log := &errorLog{}
	cfg := pyroscope.Config{
		ApplicationName: App, ServerAddress: c.URL, TenantID: c.Tenant,
		Tags: clean(c.Tags), ProfileTypes: types, UploadRate: c.Every, Logger: log,
		// A collection forced in the middle of a run would be in its numbers.
		DisableGCRuns: true,
	}
	if c.Token != "" {
		cfg.HTTPHeaders = map[string]string{"Authorization": "Bearer " + c.Token}
	} else {
		cfg.BasicAuthUser, cfg.BasicAuthPassword = c.User, c.Password
	}
	p, err := pyroscope.Start(cfg)
	if err != nil {
		return nil, fmt.Errorf("pyroscope: %w", err)
	}
	return &Session{profiler: p, log: log}, nil
}

// Stop sends what is left and waits for it. Its error tells of uploads that failed,
// also earlier ones.
func (s *Session) Stop() error {
	// The heap profile is that of the last collection.
	runtime.GC()
	// Stop drops what is still queued: flush first.
	s.profiler.Flush(true)
	err := s.profiler.Stop()
	return errors.Join(err, s.log.err())
}

// clean tags of what Pyroscope does not take in a label: blanks and separators.
func clean(tags map[string]string) map[string]string {
	out := maps.Clone(tags)
	for k, v := range out {
		out[k] = strings.Map(func(r rune) rune {
			if strings.ContainsRune(" ,{}=\"", r) {
				return '_'
			}
			return r
		}, v)
	}
	return out
}

// errorLog keeps the errors that pyroscope-go only logs.
type errorLog struct {
	mu   sync.Mutex
	errs []error
}

func (*errorLog) Infof(string, ...any)  {}
func (*errorLog) Debugf(string, ...any) {}

// Errorf is called from upload goroutines.
func (l *errorLog) Errorf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errs) < 10 {
		l.errs = append(l.errs, fmt.Errorf("pyroscope: "+format, args...))
	}
}

func (l *errorLog) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.errs...)
}
