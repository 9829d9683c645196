package stack

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// process is one running child. A goroutine of its own starts it and waits for it, and stays on one OS thread meanwhile:
// where the kernel can end a child with its parent, it does so when the *thread* that forked ends, and Go may end an
// idle thread at any time.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string        // file with all its output; "" if that goes elsewhere
	done chan struct{} // closed once the child is gone
	err  error         // what it ended with; read after done
}

// start runs cmd, whose output must be files or nil.
func start(name string, cmd *exec.Cmd) (*process, error) {
	inherit(cmd)
	p := &process{name: name, cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		<-p.done
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// startLogged runs a program with its output in a file.
func startLogged(name, log, bin string, args ...string) (*process, error) {
	f, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the child has its own
	cmd := exec.Command(bin, args...)
	cmd.Stdout, cmd.Stderr = f, f
	p, err := start(name, cmd)
	if err == nil {
		p.log = log
	}
	return p, err
}

// grace is how long a process may take to end by itself.
const grace = 10 * time.Second

// stop asks the process and its children to end, and kills them if they do not.
func (p *process) stop() {
	select {
	case <-p.done:
	default:
		p.signal(false)
	}
	select {
	case <-p.done:
	case <-time.After(grace):
	}
	p.signal(true) // also what it may have left behind
	<-p.done
}

// gone tells why a process that should run does not.
func (p *process) gone() error {
	return fmt.Errorf("%s ended by itself (%v); its last lines:\n%s", p.name, p.err, p.tail())
}

// tail is the end of the log.
func (p *process) tail() []byte {
	all, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	lines := bytes.SplitAfter(bytes.TrimRight(all, "\n"), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-8):], nil)
}
