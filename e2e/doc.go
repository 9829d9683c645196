// Package e2e has tests only: telemetry's way to the outside, with the real parts at its end, and the files of the compose
// stack. It is a module of its own since the OpenTelemetry Collector has many dependencies that nobody else needs.
//
//	make e2e
package e2e
