package otelpipe_test

import (
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
)

// A Producer is the cheap way: its counts are read when the reader collects.
func ExampleNewProducer() {
	producer := otelpipe.NewProducer(otelpipe.WithDBConventions(), otelpipe.WithTracerProvider(otel.GetTracerProvider()))
	reader := metric.NewManualReader(metric.WithProducer(producer)) // or NewPeriodicReader with an exporter
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))

	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	rdb.AddHook(autopipe.New(autopipe.WithObserver(producer)))
}

// Without access to the reader, instruments of the global MeterProvider do.
func ExampleNew() {
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	rdb.AddHook(autopipe.New(autopipe.WithObserver(
		otelpipe.New(otelpipe.WithServer(rdb.Options().Addr), otelpipe.WithTracerProvider(otel.GetTracerProvider())),
	)))
}
