package hook

import (
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/command"
)

// Class says how a command may travel.
type Class uint8

const (
	// Shared may join a batch; every other class goes to the server on its own.
	Shared      Class = iota
	Blocking          // may wait on the server
	Connection        // reads or changes the state of its connection
	Transaction       // MULTI, EXEC, DISCARD, WATCH, UNWATCH
	FanOut            // go-redis may send it to several nodes and merge the answers
	Admin             // manages the server
	Module            // of a server module
	Reader            // its reply goes into the caller's own buffer or writer, which may fail or be slow
	Unknown           // not in the table, or not with this reply type
	Excluded          // named by the user

	NumClasses = iota
)

// Classifier decides the class of each command from the command table, its arguments and the user's own lists.
// The zero value has no lists.
type Classifier struct {
	direct  map[string]struct{}
	batched map[string]struct{}

	// seen are commands whose name and Go type alone say that they are Shared: what most programs send, over and over. They
	// are found without the table, on little stack, which thousands of callers have in nobody's cache. A place is
	// taken once, by the first that comes.
	seen [256]atomic.Pointer[seen]
}

type seen struct {
	name string
	typ  reflect.Type
	info *command.Info
}

// place is where a command is kept in seen. The name is not empty.
func place(name string) int {
	first, last := int(name[0]), int(name[len(name)-1])
	return (first*3 + last*13 + len(name)) % 256
}

// NewClassifier makes a classifier. Commands named in direct are Excluded. Commands named in batched are Shared
// where they would be Module or Unknown; the other classes cannot be lifted, since they would harm their
// neighbours. Names count without regard to case.
func NewClassifier(direct, batched []string) *Classifier {
	return &Classifier{direct: nameSet(direct), batched: nameSet(batched)}
}

func nameSet(names []string) map[string]struct{} {
	if len(names) == 0 {
		return nil
	}
	set := make(map[string]struct{}, len(names))
	for _, n := range names {
		set[strings.ToLower(strings.TrimSpace(n))] = struct{}{}
	}
	return set
}

// Classify says how cmd may travel on a client of the given topology, and returns what the table knows of the command
// (nil if nothing). It does not allocate for a command whose name is a lower-case string, which is what go-redis's
// own methods make, but for the first of its kind.
func (c *Classifier) Classify(cmd redis.Cmder, t Topology) (Class, *command.Info) {
	name, typ := cmd.Name(), reflect.TypeOf(cmd)
	if name == "" {
		return c.classify(cmd, name, t)
	}
	slot := &c.seen[place(name)]
	s := slot.Load()
	if s != nil && s.typ == typ && s.name == name {
		return Shared, s.info
	}
	class, info := c.classify(cmd, name, t)
	if s == nil && class == Shared && info != nil && info.Name == name && info.Plain() {
		slot.CompareAndSwap(nil, &seen{info.Name, typ, info}) // not the caller's string, which may be part of a large one
	}
	return class, info
}

func (c *Classifier) classify(cmd redis.Cmder, name string, t Topology) (Class, *command.Info) {
	info := command.Lookup(name)
	if len(c.direct) > 0 {
		if _, ok := c.direct[name]; ok {
			return Excluded, info
		}
	}
	if info == nil {
		return c.lift(name, Unknown), nil
	}
	const alone = command.Blocking | command.Connection | command.Transaction | command.FanOut | command.Admin | command.Module
	if info.Flags&alone != 0 || t == Several && info.Has(command.MultiShard) {
		if class := c.aloneClass(info, cmd); class != Shared {
			return class, info
		}
	}
	// A reply read into a type that does not fit it breaks the connection for every command behind it.
	if !info.Accepts(cmd) {
		return c.lift(name, Unknown), info
	}
	if !command.CanShare(cmd) {
		return Reader, info
	}
	return Shared, info
}

func (c *Classifier) aloneClass(info *command.Info, cmd redis.Cmder) Class {
	switch {
	case info.Has(command.Transaction):
		return Transaction
	case info.Has(command.Connection):
		return Connection
	case info.Has(command.Blocking) && mayBlock(info.Name, cmd.Args()):
		return Blocking
	case info.Has(command.FanOut), info.Has(command.MultiShard):
		return FanOut
	case info.Has(command.Admin):
		return Admin
	case info.Has(command.Module):
		return c.lift(info.Name, Module)
	}
	return Shared
}

func (c *Classifier) lift(name string, class Class) Class {
	if len(c.batched) > 0 {
		if _, ok := c.batched[name]; ok {
			return Shared
		}
	}
	return class
}
