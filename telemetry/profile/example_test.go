package profile_test

import (
	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry/profile"
)

func Example() {
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	rdb.AddHook(autopipe.New(autopipe.WithName("sessions"), autopipe.WithObserver(profile.New())))
}
