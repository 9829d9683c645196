package demo

import (
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestMain(m *testing.M) {
	logging.Disable() // as Main does
	goleak.VerifyTestMain(redistest.Main(m))
}
