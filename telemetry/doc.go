// Package telemetry holds what autopipe tells about itself: the events, the closed
// sets of reasons that label them, and the interface by which an observer hears them.
//
// It imports the standard library only. The engine emits the events; telemetry/prom,
// telemetry/otelpipe and telemetry/profile turn them into metrics, spans and profile
// labels. An observer of your own needs nothing but this package:
//
//	type sizes struct{}
//
//	func (sizes) Attach(telemetry.Pipe) telemetry.Events {
//		return telemetry.Events{
//			BatchEnd: func(_ context.Context, b *telemetry.Batch) { log.Println(b.Size, b.Reason, b.RoundTrip) },
//		}
//	}
//
// No event carries an argument or a value. A command's name is there because spans need it;
// to use it as a metric label, bound it first (see Command.Name).
package telemetry
