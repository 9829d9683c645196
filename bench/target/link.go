package target

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/netdelay"
)

// The link runs in a process of its own, a second copy of the running program: its
// CPU time would otherwise be counted as the clients'.
const linkEnv = "AUTOPIPE_BENCH_LINK"

// ServeLink turns this process into a link if it was started as one, and then does
// not return. Programs (and TestMain) that use Via call it first thing.
func ServeLink() {
	spec := os.Getenv(linkEnv)
	if spec == "" {
		return
	}
	if err := serveLink(spec); err != nil {
		fmt.Fprintln(os.Stderr, "link:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveLink(spec string) error {
	target, text, _ := strings.Cut(spec, " ")
	delay, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	p, err := netdelay.Listen("127.0.0.1:0", target, delay)
	if err != nil {
		return err
	}
	fmt.Println(p.Addr())
	// The parent holds the other end of stdin: when it is gone, so are we.
	_, _ = io.Copy(io.Discard, os.Stdin)
	return p.Close()
}

type link struct {
	addr  string
	cmd   *exec.Cmd
	stdin io.Closer
}

func startLink(target string, delay time.Duration) (*link, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), linkEnv+"="+target+" "+delay.String())
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the link: %w", err)
	}
	l := &link{cmd: cmd, stdin: stdin}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		l.close()
		return nil, fmt.Errorf("the link said no address: %w", err)
	}
	l.addr = strings.TrimSpace(line)
	return l, nil
}

func (l *link) close() {
	l.stdin.Close()
	_ = l.cmd.Wait()
}
