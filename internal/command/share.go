package command

import "github.com/redis/go-redis/v9"

// CanShare reports whether reading cmd's reply can fail only together with
// the connection. It is false for the types whose reading depends on the
// caller: a buffer too small for the value (GetToBuffer), an io.Writer that
// returns an error (RawWriteTo). And it is false for the type of TS.MGET and
// its like, which in go-redis 9.23 cannot read an error reply. In a pipeline
// such a failure is taken for a broken connection and every later command
// gets the error, so they must travel alone. It does not allocate.
func CanShare(cmd redis.Cmder) bool {
	switch cmd.(type) {
	case *redis.ZeroCopyStringCmd, *redis.RawWriteToCmd, *redis.MapStringSliceInterfaceCmd:
		return false
	}
	return true
}
