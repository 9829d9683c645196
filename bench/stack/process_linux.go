package stack

import (
	"os/exec"
	"syscall"
)

// inherit puts the child into a process group of its own, so that Ctrl-C reaches us only and we end the children in
// order, and has the kernel kill it should we die first.
func inherit(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
