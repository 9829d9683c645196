package command

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// CanClone reports whether cmd.Clone() may be sent in place of cmd and its
// result copied back by assigning the struct. It does not allocate.
func CanClone(cmd redis.Cmder) bool {
	switch cmd.(type) {
	case *redis.ZeroCopyStringCmd:
		return false // a clone drops the caller's buffer and refuses to read
	case *redis.RawWriteToCmd:
		return false // a clone writes to the caller's io.Writer
	case *redis.MonitorCmd:
		return false // holds a mutex and a channel
	case *redis.HImportPrepareCmd, *redis.HImportSetCmd, *redis.HImportDiscardCmd, *redis.HImportDiscardAllCmd:
		return false // Clone gives the embedded *StatusCmd or *IntCmd
	}
	return true
}

// SharesArgs reports whether a clone of cmd would still share memory with the
// caller: Clone copies the list of arguments, not what a []byte, a pointer or
// a value with MarshalBinary points to. Where the caller may go on while the
// clone is being written, such a command must be waited for. It does not allocate.
func SharesArgs(cmd redis.Cmder) bool {
	for _, a := range cmd.Args() {
		switch a.(type) {
		case nil, string, bool, float32, float64,
			int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64,
			time.Time, time.Duration:
		default:
			return true
		}
	}
	return false
}
