package autopipe_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{}) // tests break connections by the thousand
	const goredis = "github.com/redis/go-redis/v9"
	goleak.VerifyTestMain(redistest.Main(m),
		// go-redis's own: after failed dials it looks once a second whether the server is back, and notices only
		// then that the pool is closed.
		goleak.IgnoreAnyFunction(goredis+"/internal/pool.(*ConnPool).tryDial"),
		// The client of NewFailoverClusterClient does not end its subscription at the sentinel when it is closed (v9.23).
		goleak.IgnoreAnyFunction(goredis+".(*sentinelFailover).listen"),
		goleak.IgnoreAnyFunction(goredis+".(*channel).initMsgChan.func1"),
		goleak.IgnoreAnyFunction(goredis+".(*channel).initHealthCheck.func1"))
}
