package prom_test

import (
	"log"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
)

func Example() {
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	observer := prom.New(prometheus.DefaultRegisterer, prom.WithPoolStats(rdb.PoolStats))
	if err := observer.Err(); err != nil {
		log.Print(err) // somebody else has one of our names
	}
	rdb.AddHook(autopipe.New(autopipe.WithName("sessions"), autopipe.WithObserver(observer)))

	http.Handle("/metrics", promhttp.Handler())
}
