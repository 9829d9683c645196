package redistest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	startTimeout = 10 * time.Second // until PING answers
	startTries   = 20               // ports tried when others are faster
	logTail      = 2000             // bytes of log in an error
)

// ErrClosed is returned by the methods of a [Server] after its Close.
var ErrClosed = errors.New("redistest: the server is closed")

// Server is one redis-server process on 127.0.0.1. It keeps its port and its
// directory through [Server.Kill] and [Server.Restart]. All methods may be
// called from several goroutines.
type Server struct {
	bin      string
	dir      string
	argv     []string // without the port
	port     int
	password string
	tune     []string // a command for each start; it may fail

	mu     sync.Mutex
	proc   *process
	closed bool
}

// Start runs a redis-server on a free loopback port, without persistence, with
// the DEBUG command allowed, and returns when it answers. The caller must
// Close it. See [Run] for tests.
func Start(opts ...Option) (*Server, error) {
	c := newConfig(opts)
	argv := []string{
		"--bind", loopback,
		"--save", "",
		"--appendonly", "no",
		"--enable-debug-command", "yes",
		// Redis waits 5 s for more replicas before it syncs the first.
		"--repl-diskless-sync-delay", "0",
	}
	return start(c, append(argv, c.args...), nil)
}

// start makes the directory, lets prepare add to it, and runs the server. Without
// a fixed port it tries others when somebody else takes the chosen one first.
func start(c config, argv []string, prepare func(*Server) error) (*Server, error) {
	bin, err := Find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	s := &Server{bin: bin, dir: dir, argv: argv, password: c.value("requirepass")}
	if prepare != nil {
		err = prepare(s)
	}
	if err == nil {
		err = s.startOnPort(c.port)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return s, nil
}

func (s *Server) startOnPort(fixed int) error {
	if fixed != 0 {
		if !claimPort(fixed) {
			return &portTakenError{fixed}
		}
		s.port = fixed
		if err := s.launch(); err != nil {
			releasePort(fixed)
			return err
		}
		return nil
	}
	var err error
	for range startTries {
		if s.port, err = reservePort(); err != nil {
			return err
		}
		if err = s.launch(); err == nil {
			return nil
		}
		releasePort(s.port)
		if taken := (*portTakenError)(nil); !errors.As(err, &taken) {
			return err
		}
	}
	return err
}

// launch starts the process on s.port and waits until it answers.
func (s *Server) launch() error {
	if err := os.Truncate(s.logPath(), 0); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("redistest: %w", err)
	}
	args := append([]string{}, s.argv...)
	args = append(args, "--port", strconv.Itoa(s.port), "--dir", s.dir)
	p, err := startProcess(s.bin, args, s.dir, s.logPath())
	if err != nil {
		return err
	}
	if err := s.waitReady(p); err != nil {
		p.kill()
		return err
	}
	s.proc = p
	if len(s.tune) > 0 {
		_, _ = s.Do(s.tune...)
	}
	return nil
}

// waitReady returns once the server that answers on the port is process p. On
// a port that another redis took first, that one would answer our PING.
func (s *Server) waitReady(p *process) error {
	pid := strconv.Itoa(p.cmd.Process.Pid)
	var last error
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		if !p.running() {
			if log := s.Log(); strings.Contains(log, "Address already in use") {
				return &portTakenError{s.port}
			}
			return fmt.Errorf("redistest: redis-server ended at once; its log:\n%s", s.Log())
		}
		var info map[string]string
		if _, last = s.do(time.Second, "PING"); last == nil {
			if info, last = s.Info("server"); last == nil && info["process_id"] == pid {
				return nil
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("redistest: redis-server on port %d did not answer within %v (%v); its log:\n%s",
		s.port, startTimeout, last, s.Log())
}

// Addr returns host:port.
func (s *Server) Addr() string { return hostPort(s.port) }

// Port returns the TCP port.
func (s *Server) Port() int { return s.port }

func (s *Server) logPath() string { return filepath.Join(s.dir, "redis.log") }

// Log returns the end of the server's log.
func (s *Server) Log() string {
	b, err := os.ReadFile(s.logPath())
	if err != nil {
		return ""
	}
	return string(b[max(0, len(b)-logTail):])
}

// Kill ends the process with SIGKILL and returns when it is gone. It is not an
// error if it was not running.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.proc.kill()
	return nil
}

// Restart kills the process if it still runs, starts it on the same port with
// the same arguments and returns when it answers. The data is lost; a cluster
// node or a sentinel remembers who it is.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.proc.kill()
	deadline := time.Now().Add(startTimeout)
	for {
		err := s.launch()
		// A port search of another test binary tries ports by listening on
		// them for a moment; that passes.
		taken := (*portTakenError)(nil)
		if err == nil || !errors.As(err, &taken) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Freeze stops the process with SIGSTOP: connections stay open and new ones are
// taken by the kernel, but nothing answers until [Server.Thaw].
func (s *Server) Freeze() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return s.proc.freeze()
}

// Thaw continues the process after [Server.Freeze].
func (s *Server) Thaw() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return s.proc.thaw()
}

// Close ends the process, removes its directory and gives the port back. It
// may be called more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.proc.kill()
	releasePort(s.port)
	return os.RemoveAll(s.dir)
}
