package redistest

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the child when the thread that forks it
// ends. See process for why that thread lives long enough.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
