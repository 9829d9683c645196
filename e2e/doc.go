// Package e2e has tests only: telemetry's way to the outside, with the real parts at its end, and the files of the compose
// stack. It is a module of its own since the OpenTelemetry Collector has many dependencies that nobody else needs.
//
//	make e2e    # GOWORK=off go test ./... in here: the module is not in go.work, where its versions would raise the others'
package e2e
