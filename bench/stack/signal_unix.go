//go:build unix

package stack

import "syscall"

// signal the whole process group: to end, or to die.
func (p *process) signal(kill bool) {
	s := syscall.SIGTERM
	if kill {
		s = syscall.SIGKILL
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may be gone already
}
