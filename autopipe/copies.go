package autopipe

import (
	"reflect"

	"github.com/redis/go-redis/v9"
)

// copies is memory for the copy in which a command travels, one for each of the frequent reply types, so that a copy
// costs no garbage. Commands of other types are cloned.
type copies struct {
	str    *redis.StringCmd
	status *redis.StatusCmd
	int    *redis.IntCmd
	bool   *redis.BoolCmd
	float  *redis.FloatCmd
	slice  *redis.SliceCmd
	cmd    *redis.Cmd
}

// of makes a copy of cmd.
func (s *copies) of(cmd redis.Cmder) redis.Cmder {
	switch src := cmd.(type) {
	case *redis.StringCmd:
		return keep(&s.str, src)
	case *redis.StatusCmd:
		return keep(&s.status, src)
	case *redis.IntCmd:
		return keep(&s.int, src)
	case *redis.BoolCmd:
		return keep(&s.bool, src)
	case *redis.FloatCmd:
		return keep(&s.float, src)
	case *redis.SliceCmd:
		return keep(&s.slice, src)
	case *redis.Cmd:
		return keep(&s.cmd, src)
	}
	return cmd.Clone()
}

func keep[T any](slot **T, src *T) *T {
	if *slot == nil {
		*slot = new(T)
	}
	**slot = *src
	return *slot
}

// clear drops what a copy refers to, before its memory waits in a pool: its reply may be large.
func (s *copies) clear(used redis.Cmder) {
	switch c := used.(type) {
	case *redis.StringCmd:
		wipe(s.str, c)
	case *redis.StatusCmd:
		wipe(s.status, c)
	case *redis.IntCmd:
		wipe(s.int, c)
	case *redis.BoolCmd:
		wipe(s.bool, c)
	case *redis.FloatCmd:
		wipe(s.float, c)
	case *redis.SliceCmd:
		wipe(s.slice, c)
	case *redis.Cmd:
		wipe(s.cmd, c)
	}
}

// wipe clears our copy, and leaves a command alone that is the caller's own.
func wipe[T any](ours, used *T) {
	if used == ours {
		var zero T
		*ours = zero
	}
}

// copyBack gives the caller's command the result that its copy received.
func (c *call) copyBack() {
	if c.pinned {
		return
	}
	switch dst := c.cmd.(type) {
	case *redis.StringCmd:
		dst.SetVal(c.Cmder.(*redis.StringCmd).Val())
	case *redis.StatusCmd:
		dst.SetVal(c.Cmder.(*redis.StatusCmd).Val())
	case *redis.IntCmd:
		dst.SetVal(c.Cmder.(*redis.IntCmd).Val())
	case *redis.BoolCmd:
		dst.SetVal(c.Cmder.(*redis.BoolCmd).Val())
	case *redis.FloatCmd:
		dst.SetVal(c.Cmder.(*redis.FloatCmd).Val())
	case *redis.SliceCmd:
		dst.SetVal(c.Cmder.(*redis.SliceCmd).Val())
	case *redis.Cmd:
		dst.SetVal(c.Cmder.(*redis.Cmd).Val())
	default:
		// Unexported fields included. The caller's command keeps the arguments it was made with.
		copy(c.Cmder.Args(), c.cmd.Args())
		reflect.ValueOf(c.cmd).Elem().Set(reflect.ValueOf(c.Cmder).Elem())
	}
}
