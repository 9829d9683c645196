package rival

import (
	"context"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/redis/rueidis"
)

// rueidisClient multiplexes the callers over few connections, as a user gets it who
// sets nothing. Client-side caching plays no part: plain Do never uses it.
type rueidisClient struct{ client rueidis.Client }

func (c *rueidisClient) Worker(w *load.Work, id int) load.Worker {
	return &rueidisWorker{c.client, w.Value, w.Picker(id)}
}

func (c *rueidisClient) Close() error { c.client.Close(); return nil }

type rueidisWorker struct {
	client rueidis.Client
	value  string
	pick   load.Picker
}

func (w *rueidisWorker) Do(ctx context.Context) (int, error) {
	key, read := w.pick.Next()
	var err error
	if read {
		_, err = w.client.Do(ctx, w.client.B().Get().Key(key).Build()).ToString()
	} else {
		err = w.client.Do(ctx, w.client.B().Set().Key(key).Value(w.value).Build()).Error()
	}
	if err != nil {
		return 0, err
	}
	return 1, nil
}

func init() {
	register(Variant{
		Name: "rueidis", Title: "rueidis",
		Open: func(s Setup) (Client, error) {
			c, err := rueidis.NewClient(rueidis.ClientOption{
				InitAddress:       []string{s.Addr},
				ForceSingleClient: true,
				ConnWriteTimeout:  timeout,
			})
			if err != nil {
				return nil, err
			}
			return &rueidisClient{c}, nil
		},
	})
}
