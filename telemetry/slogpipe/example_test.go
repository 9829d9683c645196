package slogpipe_test

import (
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry/slogpipe"
)

func Example() {
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	rdb.AddHook(autopipe.New(autopipe.WithObserver(
		slogpipe.New(slog.Default(), slogpipe.WithThreshold(50*time.Millisecond)),
	)))
}
