// Package otelpipe exports autopipe's metrics and spans through OpenTelemetry.
//
// There are two ways for the metrics. The names, units and attributes are the same (METRICS.md, one directory up), and
// translate to those of package prom, so that one dashboard serves all.
//
//	p := otelpipe.NewProducer()                 // cheap: counts like package prom, read at collection
//	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(p))
//	rdb.AddHook(autopipe.New(autopipe.WithObserver(p)))
//
//	o := otelpipe.New(otelpipe.WithMeterProvider(mp)) // instruments of the API, for those who cannot add a Producer
//	rdb.AddHook(autopipe.New(autopipe.WithObserver(o)))
//
// What a Producer bypasses: views (no renaming, dropping or re-bucketing), the reader's choice of temporality (it is
// always cumulative: an exporter that insists on delta must convert) and its cardinality limit (which the closed label
// sets make needless).
//
// Give one observer to all hooks of a program: hooks of the same name are counted together, others told apart by
// the attribute pipe.
//
// # Spans
//
// WithTracerProvider switches them on, and only callers whose context is sampled get any: no root spans. See spans.go for
// their shape. Neither spans nor metrics ever show a key, a value, an argument or the text of an error.
//
// # Cost
//
// Measured on 2 cores, with others at work on them. Producer: 13 to 19 ns per command in batches of 64 or more, 70 to 120 ns
// for a command that travels alone; no allocations; 20 us a collection for each pipe. API instruments: counters and gauges
// are read at collection as well, but a histogram takes one Record for each value, 2 for each command and 3 for each
// batch: 300 to 500 ns per command, 830 to 1,300 ns for one that travels alone; no allocations. WithDBConventions adds
// 20 ns (Producer) or 160 to 300 ns (instruments) for each command. WithTracerProvider adds 16 ns for each command while
// nobody is sampled; a sampled one takes 5 us and 4 KB, which is the SDK's price for a span.
package otelpipe
