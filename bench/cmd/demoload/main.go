// Command demoload runs the load of package demo until it is interrupted.
//
//	go run ./cmd/demoload -redis 127.0.0.1:6379 -listen :9464
//	curl -s localhost:9464/metrics
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/goautopipe/redis-autopipe/bench/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	os.Exit(demo.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
