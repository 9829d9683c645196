package redistest_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// Every test must leave nothing behind; the shared server goes first.
func TestMain(m *testing.M) { goleak.VerifyTestMain(redistest.Main(m)) }

var bg = context.Background()

// bare makes a client that sends nothing on its own beyond the handshake, tries
// each command once, and uses one connection.
func bare(o *redis.Options) {
	o.MaxRetries = -1
	o.PoolSize = 1
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}
