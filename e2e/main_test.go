package e2e

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(redistest.Main(m)) }
