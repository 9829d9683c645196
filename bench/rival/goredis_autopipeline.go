package rival

import "github.com/redis/go-redis/v9"

// go-redis's own autopipelining, in the forms its documentation names. nil options
// are its defaults.
func init() {
	register(Variant{
		Name: "goredis", Title: "go-redis AutoPipeline(), default",
		Open: func(s Setup) (Client, error) { return openAutoPipeline(s, nil) },
	})
	register(Variant{
		Name: "goredis-parallel", Title: "go-redis AutoPipeline(), parallel 300 x 80, unordered",
		Open: func(s Setup) (Client, error) {
			return openAutoPipeline(s, &redis.AutoPipelineOptions{
				MaxBatchSize: 300, MaxConcurrentBatches: 80, Unordered: true,
			})
		},
	})
	register(Variant{
		Name: "goredis-fullduplex", Title: "go-redis AutoPipeline(), full duplex",
		Open: func(s Setup) (Client, error) {
			o := redis.DefaultBlockingAutoPipelineOptions()
			o.FullDuplex = true
			return openAutoPipeline(s, o)
		},
	})
	register(Variant{
		Name: "goredis-async", Title: "go-redis AsyncAutoPipeline(), window of 200", Windowed: true,
		Open: func(s Setup) (Client, error) {
			rdb := redis.NewClient(s.goRedis())
			ap, err := rdb.AsyncAutoPipeline()
			if err != nil {
				rdb.Close()
				return nil, err
			}
			return Deferred(ap, ap, rdb), nil
		},
	})
}

func openAutoPipeline(s Setup, o *redis.AutoPipelineOptions) (Client, error) {
	rdb := redis.NewClient(s.goRedis())
	ap, err := rdb.AutoPipelineWithOptions(o)
	if err != nil {
		rdb.Close()
		return nil, err
	}
	return Single(ap, ap, rdb), nil
}
