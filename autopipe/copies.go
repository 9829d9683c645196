package autopipe

import (
	"reflect"

	"github.com/redis/go-redis/v9"
)

// copies is memory for copies of commands, by the frequent reply types; commands of other types are cloned. With the
// memory kept, or one piece for many commands, a copy costs little garbage.
type copies struct {
	str    []redis.StringCmd
	status []redis.StatusCmd
	int    []redis.IntCmd
	bool   []redis.BoolCmd
	float  []redis.FloatCmd
	slice  []redis.SliceCmd
	cmd    []redis.Cmd
}

// of makes a copy of cmd. Where memory is lacking, it is taken for that many commands at once.
func (s *copies) of(cmd redis.Cmder, chunk int) redis.Cmder {
	switch src := cmd.(type) {
	case *redis.StringCmd:
		return put(&s.str, src, chunk)
	case *redis.StatusCmd:
		return put(&s.status, src, chunk)
	case *redis.IntCmd:
		return put(&s.int, src, chunk)
	case *redis.BoolCmd:
		return put(&s.bool, src, chunk)
	case *redis.FloatCmd:
		return put(&s.float, src, chunk)
	case *redis.SliceCmd:
		return put(&s.slice, src, chunk)
	case *redis.Cmd:
		return put(&s.cmd, src, chunk)
	}
	return cmd.Clone()
}

func put[T any](mem *[]T, src *T, chunk int) *T {
	if len(*mem) == cap(*mem) {
		*mem = make([]T, 0, chunk) // copies made before keep the old piece
	}
	*mem = append(*mem, *src)
	return &(*mem)[len(*mem)-1]
}

// reset makes the memory ready for use again, and drops what the copies refer to: a reply may be large.
func (s *copies) reset() {
	drop(&s.str)
	drop(&s.status)
	drop(&s.int)
	drop(&s.bool)
	drop(&s.float)
	drop(&s.slice)
	drop(&s.cmd)
}

func drop[T any](mem *[]T) {
	if len(*mem) > 0 { // longer pieces before this one went with their copies
		clear(*mem)
		*mem = (*mem)[:0]
	}
}

// copyBack gives the caller's command the result that its copy received.
func (c *call) copyBack() {
	if !c.pinned {
		copyBack(c.cmd, c.Cmder)
	}
}

func copyBack(to, from redis.Cmder) {
	switch dst := to.(type) {
	case *redis.StringCmd:
		dst.SetVal(from.(*redis.StringCmd).Val())
	case *redis.StatusCmd:
		dst.SetVal(from.(*redis.StatusCmd).Val())
	case *redis.IntCmd:
		dst.SetVal(from.(*redis.IntCmd).Val())
	case *redis.BoolCmd:
		dst.SetVal(from.(*redis.BoolCmd).Val())
	case *redis.FloatCmd:
		dst.SetVal(from.(*redis.FloatCmd).Val())
	case *redis.SliceCmd:
		dst.SetVal(from.(*redis.SliceCmd).Val())
	case *redis.Cmd:
		dst.SetVal(from.(*redis.Cmd).Val())
	default:
		// Unexported fields included. The caller's command keeps the arguments it was made with.
		copy(from.Args(), to.Args())
		reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
	}
}
