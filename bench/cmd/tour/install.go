package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// installTimeout bounds the installation of redis-server as a whole.
const installTimeout = 90 * time.Second

// canInstall reports whether there is apt-get and the right to use it without asking for a password.
func canInstall() bool {
	for _, tool := range []string{"apt-get", "timeout", "env"} {
		if _, err := exec.LookPath(tool); err != nil {
			return false
		}
	}
	return os.Geteuid() == 0 || exec.Command("sudo", "-n", "true").Run() == nil
}

// installServer installs the Debian package redis-server. Without package lists, as in a fresh container, it fetches
// them first.
func installServer(ctx context.Context) error {
	end := time.Now().Add(installTimeout)
	install := []string{"-y", "--no-install-recommends", "install", "redis-server"}
	if aptGet(ctx, end, install...) == nil {
		return nil
	}
	if err := aptGet(ctx, end, "update"); err != nil {
		return err
	}
	return aptGet(ctx, end, install...)
}

// aptGet runs apt-get without questions and without output. timeout(1) ends it in time: behind sudo it belongs to root,
// and we could not.
func aptGet(ctx context.Context, end time.Time, args ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	left := int(time.Until(end).Seconds())
	if left < 1 {
		return fmt.Errorf("apt-get took longer than %v", installTimeout)
	}
	argv := []string{"env", "DEBIAN_FRONTEND=noninteractive", "timeout", "--foreground", "-k", "5", strconv.Itoa(left), "apt-get", "-qq"}
	if os.Geteuid() != 0 {
		argv = append([]string{"sudo", "-n"}, argv...)
	}
	argv = append(argv, args...)
	var out bytes.Buffer
	// Not CommandContext: a package manager that is killed half-way leaves its work undone. On Ctrl-C the terminal tells
	// apt-get itself (hence --foreground), which knows when it may stop.
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("apt-get %s: %w%s", args[len(args)-1], err, lastLine(out.String()))
	}
	return nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return " (" + last + ")"
	}
	return ""
}
