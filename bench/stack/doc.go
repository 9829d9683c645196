// Package stack runs what it takes to look at autopipe's metrics, as processes of this machine and without containers:
// redis-server, its exporter, the demo load, and a Prometheus that scrapes them. Command observe is its face.
//
// Whatever is started ends with Close, and dies with the process that started it.
package stack
