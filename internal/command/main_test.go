package command_test

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

var ctx = context.Background()

func TestMain(m *testing.M) { os.Exit(redistest.Main(m).Run()) }

func newClient(t *testing.T) *redis.Client {
	rdb := redis.NewClient(&redis.Options{Addr: redistest.Shared(t).Addr()})
	t.Cleanup(func() { rdb.Close() })
	if err := rdb.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	return rdb
}
