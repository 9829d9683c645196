package hook

import (
	"runtime"
	"strings"
)

// Topology says what kind of client a chain belongs to, as far as that decides how commands may travel.
type Topology uint8

const (
	// Several: the client speaks to several nodes, or it is not known. It may split a command by its keys, which
	// go-redis's pipelines do not.
	Several Topology = iota
	// Single: every command of the client goes to one server.
	Single
	// Sticky: a Conn or a Tx, which keeps one connection to one server, for one goroutine.
	Sticky
)

// CallerTopology finds out for whom the running command is processed. A hook is not told, so it looks for the client's
// Process method up the stack. It takes some microseconds: ask once for each chain, when its first command comes.
func CallerTopology() Topology {
	t := Several
	callers(func(method string) bool {
		switch method {
		case "(*Client).Process":
			t = Single
		case "(*Conn).Process", "(*Tx).Process":
			t = Sticky
		case "(*ClusterClient).Process", "(*Ring).Process":
		default:
			return true
		}
		return false
	})
	return t
}

// Watching reports whether the running command is one by which go-redis watches the nodes of a cluster or ring: the
// heartbeat of a Ring, the latency probes of RouteByLatency, the look whether a replica is loading. The stack has to tell,
// as the command itself is a PING like any other; go-redis's names are pinned by a test.
func Watching() bool {
	found := false
	callers(func(method string) bool {
		switch method {
		case "(*ringSharding).Heartbeat", "(*clusterNode).updateLatency", "(*clusterNode).Loading":
			found = true
		}
		return !found
	})
	return found
}

// callers calls f with go-redis's methods up the stack, as in "(*Client).Process", until it returns false.
func callers(f func(method string) bool) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if i := strings.LastIndex(frame.Function, "/v9.(*"); i >= 0 && !f(frame.Function[i+len("/v9."):]) {
			return
		}
		if !more {
			return
		}
	}
}
