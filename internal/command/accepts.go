package command

import (
	"reflect"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Accepts reports whether the Go type of cmd reads this command's reply. A
// wrong pair fails while its reply is read, which costs a pipeline every
// reply behind it, so such a pair must travel alone. The type is compared
// exactly: a type that embeds a go-redis one is not that type. Types of one
// command that fit only some of its forms (ZRANGE with and without
// WITHSCORES) are held against the arguments as well. It does not allocate.
func (i *Info) Accepts(cmd redis.Cmder) bool {
	switch cmd.(type) {
	case *redis.Cmd, *redis.RawCmd, *redis.RawWriteToCmd:
		return true // read any reply
	}
	t := reflect.TypeOf(cmd)
	for _, want := range i.Types {
		if want == t {
			args := cmd.Args()
			return i.subAccepts(t, args) && i.formAccepts(t, args)
		}
	}
	return false
}

// Plain reports whether the name and the reply type alone decide how the command may travel: no flag asks for a look at its
// arguments, and no type reads only some forms of its reply.
func (i *Info) Plain() bool {
	const look = Blocking | Connection | Transaction | FanOut | MultiShard | Module | Admin
	return i.Flags&look == 0 && !i.hasForms && len(i.subs) == 0
}

// subAccepts holds the type against the sub-command, for containers.
func (i *Info) subAccepts(t reflect.Type, args []any) bool {
	if len(i.subs) == 0 {
		return true
	}
	if len(args) < 2 {
		return i.Name == "command" // alone among containers, it has a bare form
	}
	sub, ok := argString(args[1])
	if !ok {
		return false
	}
	for _, s := range i.subs {
		if s.typ == t && strings.EqualFold(s.sub, sub) {
			return true
		}
	}
	return false
}
