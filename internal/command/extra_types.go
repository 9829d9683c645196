package command

import (
	"reflect"
	"strings"

	"github.com/redis/go-redis/v9"
)

// extraTypes are pairs that go-redis's methods do not make but that read the
// reply all the same, and that programs with commands of their own use.
var extraTypes = []struct {
	typ   reflect.Type
	names string
}{
	// Commands SetNX and SetEx have replaced by options of SET.
	{reflect.TypeFor[*redis.BoolCmd](), `setnx`},
	{reflect.TypeFor[*redis.StatusCmd](), `psetex hmset`},
	{reflect.TypeFor[*redis.StringCmd](), `substr`},

	// 0 or 1, which go-redis reads as a bool.
	{reflect.TypeFor[*redis.IntCmd](), `setnx msetnx expire pexpire expireat pexpireat persist move
		renamenx hexists hsetnx sismember smove ttl pttl expiretime pexpiretime`},
	{reflect.TypeFor[*redis.IntSliceCmd](), `smismember`},

	// StringCmd and StatusCmd read alike.
	{reflect.TypeFor[*redis.StringCmd](), `ping type mset hmset setex psetex lset ltrim rename
		incrbyfloat zscore zincrby geodist`},
	{reflect.TypeFor[*redis.StatusCmd](), `get getset hget echo`},

	// Lists of texts; a missing one reads as empty.
	{reflect.TypeFor[*redis.StringSliceCmd](), `mget hmget`},
	{reflect.TypeFor[*redis.SliceCmd](), `lrange smembers hvals hkeys`},
}

func extraPairs() []replyPair {
	var out []replyPair
	for _, e := range extraTypes {
		for _, n := range strings.Fields(e.names) {
			out = append(out, replyPair{name: n, typ: e.typ})
		}
	}
	return out
}
