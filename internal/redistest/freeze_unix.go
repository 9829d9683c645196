//go:build unix

package redistest

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"
)

// freeze returns when the process has stopped: the signal alone leaves it a
// moment in which it may still answer.
func (p *process) freeze() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			return nil // no /proc here: nothing to wait for
		}
		// "pid (name) state ...", where name may hold anything.
		if _, state, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" ")); ok && state[0] == 'T' {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("redistest: process %d did not stop", p.cmd.Process.Pid)
}

func (p *process) thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
