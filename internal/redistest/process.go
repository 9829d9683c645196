package redistest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// process is one running child. A goroutine of its own starts it and waits for
// it, and stays on one OS thread meanwhile: the kernel's "die with your
// parent" signal goes out when the *thread* that forked ends, not the process,
// and Go is free to end an idle thread at any time.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once the child is gone and reaped
}

// startProcess runs bin with args; its output is added to the file at logPath.
func startProcess(bin string, args []string, dir, logPath string) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	// An *os.File is handed to the child as it is: os/exec starts no copying
	// goroutine for it.
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	dieWithParent(cmd)

	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := cmd.Start()
		_ = log.Close()
		started <- err
		if err == nil {
			_ = cmd.Wait() // its error is "signal: killed", which we sent
		}
	}()
	if err := <-started; err != nil {
		<-p.done
		return nil, fmt.Errorf("redistest: start %s: %w", bin, err)
	}
	return p, nil
}

// running reports whether the child is still there.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// kill ends the child without any warning and returns when it is gone.
// SIGKILL also ends a frozen process.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}
