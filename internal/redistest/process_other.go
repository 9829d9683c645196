//go:build !linux

package redistest

import "os/exec"

// dieWithParent does nothing where the kernel offers no such signal: there a
// crashed test leaves its server behind.
func dieWithParent(*exec.Cmd) {}
