package rival

import (
	"io"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/redis/go-redis/v9"
)

// A plain go-redis client with the hook added: the callers' code is the plain
// client's, to the letter.
func init() {
	register(Variant{
		Name: "autopipe", Title: "autopipe", Ours: true,
		Open: func(s Setup) (Client, error) { return openAutopipe(s), nil },
	})
}

func openAutopipe(s Setup, opts ...autopipe.Option) Client {
	rdb := redis.NewClient(s.goRedis())
	ap := autopipe.New(opts...)
	rdb.AddHook(ap)
	return &single{face: rdb, close: []io.Closer{rdb}, report: func() any { return ap.Stats() }}
}
