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
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if i := strings.LastIndex(f.Function, "/v9.(*"); i >= 0 {
			switch f.Function[i+len("/v9."):] {
			case "(*Client).Process":
				return Single
			case "(*Conn).Process", "(*Tx).Process":
				return Sticky
			case "(*ClusterClient).Process", "(*Ring).Process":
				return Several
			}
		}
		if !more {
			return Several
		}
	}
}
