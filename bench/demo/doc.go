// Package demo is a load that shows everything autopipe can tell: every flush reason, every way to go directly, every
// outcome, every cause of a retry, on clients of each kind. It is what the dashboards are looked at with and tested
// against, so it aims at variety, not at speed: see package bench for that.
//
// A Demo has one Redis (or several) and puts clients in front of it, each with a hook of its own name, the label pipe:
//
//	orders    a client behind a proxy that loses connections, refuses them, and answers in Redis's name
//	sessions  a cluster client with two nodes, each with a lane of its own, the label node
//	catalog   a client with a linger time, small batches and merged pipelines
//	remote    a client a slow link away
//	cache     a client with go-redis's client-side cache
//	intake    a client with a queue and a pool that are too small
//
// The load goes through four phases, again and again: healthy, burst, faults, slow.
package demo
