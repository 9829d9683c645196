package autopipe

import (
	"context"
	"sync/atomic"
)

type directKey struct{}

// directUsed spares programs that never call Direct the look into every command's context.
var directUsed atomic.Bool

// Direct returns a context whose commands go to the server directly, around batches, as on a client without the hook:
// for a call that must not wait for others, or a measurement. They are counted as telemetry.DirectExcluded. To exclude a
// command everywhere, see WithDirect.
func Direct(ctx context.Context) context.Context {
	directUsed.Store(true)
	return context.WithValue(ctx, directKey{}, true)
}

func optedOut(ctx context.Context) bool {
	return directUsed.Load() && ctx.Value(directKey{}) != nil
}
