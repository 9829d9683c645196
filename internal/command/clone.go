package command

import "github.com/redis/go-redis/v9"

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
