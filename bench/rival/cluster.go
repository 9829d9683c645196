package rival

import (
	"io"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// Clusters are the variants for a Redis Cluster, in the order of the tables. Their names
// are those of the variants for one server that do the same job; "autopipe" is Attach,
// which is what we recommend there.
func Clusters() []*Variant {
	return []*Variant{
		{Name: "plain", Title: "go-redis, plain cluster client", Open: func(s Setup) (Client, error) {
			rdb := s.cluster()
			return Single(rdb, rdb), nil
		}},
		{
			Name: "pipeline", Title: "go-redis, hand-written pipeline of 200", Windowed: true, MaxCallers: 8,
			Open: func(s Setup) (Client, error) { return &pipelined{s.cluster()}, nil },
		},
		{Name: "goredis", Title: "go-redis AutoPipeline(), default", Open: func(s Setup) (Client, error) {
			rdb := s.cluster()
			ap, err := rdb.AutoPipeline()
			if err != nil {
				rdb.Close()
				return nil, err
			}
			return Single(ap, ap, rdb), nil
		}},
		{Name: "rueidis", Title: "rueidis", Open: func(s Setup) (Client, error) {
			c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: s.Addrs, ConnWriteTimeout: timeout})
			if err != nil {
				return nil, err
			}
			return &rueidisClient{c}, nil
		}},
		{Name: "autopipe-addhook", Title: "autopipe, AddHook", Ours: true, Open: func(s Setup) (Client, error) {
			rdb, ap := s.cluster(), autopipe.New()
			rdb.AddHook(ap)
			return &single{face: rdb, close: []io.Closer{rdb}, report: func() any { return ap.Stats() }}, nil
		}},
		{Name: "autopipe", Title: "autopipe, Attach", Ours: true, Open: func(s Setup) (Client, error) {
			rdb := s.cluster()
			ap := autopipe.Attach(rdb)
			return &single{face: rdb, close: []io.Closer{rdb}, report: func() any { return ap.Stats() }}, nil
		}},
	}
}

// cluster client with the options that all of them have.
func (s Setup) cluster() *redis.ClusterClient {
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:            s.Addrs,
		PoolSize:         s.Pool,
		PipelinePoolSize: s.Pool,
		ReadTimeout:      timeout,
		WriteTimeout:     timeout,
		PoolTimeout:      timeout,
	})
}
