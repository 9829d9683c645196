package command

import (
	"maps"
	"reflect"
	"slices"
)

//go:generate go run ../gen/command -o table_gen.go

// A Flag is one fact about a command.
type Flag uint16

const (
	// Known commands are listed by the server's COMMAND or by the overlay.
	// A command that is not known must travel alone.
	Known Flag = 1 << iota

	// ReadOnly commands change nothing, however often they run. It is the
	// server's own flag, plus the informative commands the server gives no
	// flag (PING, INFO, TIME) and the containers that only read (OBJECT, XINFO).
	ReadOnly

	// Idempotent commands are writes that leave the same state and give the
	// same reply when run twice in a row, in some or all of their forms.
	// Replayable looks at the arguments and is the one to ask.
	Idempotent

	// Blocking commands may wait on the server, always or with some arguments
	// (XREAD only with BLOCK).
	Blocking

	// Connection commands change or depend on the state of the connection
	// they run on. WAIT is one: it waits for the writes of its own connection.
	Connection

	// Transaction commands are MULTI, EXEC, DISCARD, WATCH and UNWATCH.
	Transaction

	// FanOut commands may be sent to more than one node by a ClusterClient,
	// which merges the replies; see doc.go. Its pipelines refuse them.
	FanOut

	// MultiShard commands take several keys that a ClusterClient may split by
	// slot and merge; see doc.go. Its pipelines refuse them.
	MultiShard

	// Script commands run user code: their errors may come from that code and
	// look like the server's own.
	Script

	// Module commands belong to a module: their replies vary with its version
	// and protocol, and some block.
	Module

	// Admin commands stop, reshape or inspect the server itself, can take
	// long, or drop connections. They must neither ride with others nor be
	// delayed by them. Where a container has one such sub-command, the whole
	// container counts (CONFIG, ACL, CLUSTER, LATENCY, SLOWLOG).
	Admin
)

// An Info holds the facts about one command. It is shared: do not change it.
type Info struct {
	Name     string // lower case, the first word only
	Flags    Flag
	FirstKey int8           // position of the first key, 0 if none or if it depends on the arguments
	Types    []reflect.Type // go-redis types that read its reply in some form; *redis.Cmd fits always

	subs     []subType // for containers: which type reads which sub-command
	hasForms bool      // some type reads only some forms of the reply; see forms.go
}

// A subType is a reply type of one sub-command of a container.
type subType struct {
	sub string
	typ reflect.Type
}

// Has reports whether all of f holds.
func (i *Info) Has(f Flag) bool { return i.Flags&f == f }

// Lookup returns the facts about a command by its lower-case name, nil if the
// table lacks it. It does not allocate.
func Lookup(name string) *Info { return table[name] }

// Names returns the names of all commands in the table, sorted.
func Names() []string { return slices.Sorted(maps.Keys(table)) }
