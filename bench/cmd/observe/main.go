// Command observe runs a redis-server, its exporter, the demo load and a Prometheus that scrapes them, as processes of
// this machine, and says where to look. "make observe" runs it.
//
//	go run ./cmd/observe                                   # until Ctrl-C
//	go run ./cmd/observe -warm 90s -- go test ./dashboards # a command, once there is something to see
//
// The command finds the stack by PROMETHEUS_URL, DEMO_METRICS_URL and REDIS_ADDR; its exit status becomes observe's.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/goautopipe/redis-autopipe/bench/demo"
)

// demoArg as the first argument makes this program the demo load: the stack starts it a second time, so that only one
// program need be built.
const demoArg = "demoload"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends it at once; the kernel then ends what was started
	if len(os.Args) > 1 && os.Args[1] == demoArg {
		os.Exit(demo.Main(ctx, os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
