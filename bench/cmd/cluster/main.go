// Command cluster runs a Redis Cluster of three masters on this machine, for benchmarks and
// for trying things out, until it is interrupted or stopped from elsewhere.
//
//	go run ./cmd/cluster             127.0.0.1:16600 to 16602
//	go run ./cmd/cluster -stop       ends the one that runs there
//	go run ./cmd/cluster -port 7000 -replicas 1
//
// It has no persistence: what it holds is gone when it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/target"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "cluster:", err)
		}
		stop()
		os.Exit(1)
	}
}

const (
	firstPort = 16600
	busOffset = 10000 // of the port by which the nodes talk to each other
)

func run(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("cluster", flag.ContinueOnError)
	first := f.Int("port", firstPort, "of the first node; the others follow it")
	masters := f.Int("masters", target.ClusterMasters, "how many masters")
	replicas := f.Int("replicas", 0, "how many replicas each master has")
	end := f.Bool("stop", false, "end the cluster that runs on these ports")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if *masters < 1 || *replicas < 0 || *first < 1 || *first+*masters*(1+*replicas)+busOffset > 65536 {
		return errors.New("-masters, -replicas or -port out of range")
	}
	var ports []int
	for i := range *masters * (1 + *replicas) {
		ports = append(ports, *first+i)
	}
	if *end {
		return stop(ctx, ports, out)
	}
	if err := free(ports); err != nil {
		return err
	}
	c, err := redistest.StartCluster(*masters, *replicas, redistest.Port(*first))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d masters with %d replicas each are ready. Ctrl-C, or -stop from elsewhere, ends them.\n", *masters, *replicas)
	fmt.Fprintf(out, "export %s=%s\n", target.ClusterEnv, strings.Join(c.Addrs(), ","))
	watch(ctx, c)
	fmt.Fprintln(out, "stopped")
	return c.Close()
}

// free checks that nobody listens on the ports, so that the error is a clear one.
func free(ports []int) error {
	for _, p := range ports {
		for _, p := range []int{p, p + busOffset} {
			l, err := net.Listen("tcp", address(p))
			if err != nil {
				return fmt.Errorf("port %d is taken (%w). Is a cluster running already? -stop ends it; -port chooses other ports", p, err)
			}
			if err := l.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// watch returns when ctx ends or no node answers any more.
func watch(ctx context.Context, c *redistest.Cluster) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			running := false
			for _, n := range c.Nodes {
				_, err := n.Do("PING")
				running = running || err == nil
			}
			if !running {
				return
			}
		}
	}
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
