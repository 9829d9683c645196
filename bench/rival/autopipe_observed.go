package rival

import (
	"log/slog"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/otelpipe"
	"github.com/goautopipe/redis-autopipe/telemetry/profile"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
	"github.com/goautopipe/redis-autopipe/telemetry/slogpipe"
	"github.com/prometheus/client_golang/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// observers that the observed variant switches on, all together: add one here when
// it exists. Each is made anew per client and keeps what it collects to itself:
// nothing scrapes or exports during a round. Callers are not sampled, so spans cost
// what they cost a program that traces other requests than these.
var observers = []func() telemetry.Observer{
	func() telemetry.Observer { return prom.New(prometheus.NewRegistry()) },
	func() telemetry.Observer {
		return otelpipe.NewProducer(otelpipe.WithTracerProvider(sdktrace.NewTracerProvider()))
	},
	profile.New,
	func() telemetry.Observer { return slogpipe.New(slog.New(slog.DiscardHandler)) },
}

func init() {
	register(Variant{
		Name: "autopipe-observed", Title: "autopipe, every observer on", Ours: true,
		Open: func(s Setup) (Client, error) {
			all := make([]telemetry.Observer, len(observers))
			for i, make := range observers {
				all[i] = make()
			}
			return openAutopipe(s, autopipe.WithObserver(all...)), nil
		},
	})
	register(Variant{
		// The dear way to metrics, for those who cannot add a Producer to their reader.
		Name: "autopipe-instruments", Title: "autopipe, OpenTelemetry instruments", Ours: true,
		Open: func(s Setup) (Client, error) {
			meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
			return openAutopipe(s, autopipe.WithObserver(otelpipe.New(otelpipe.WithMeterProvider(meters)))), nil
		},
	})
}
