package probe

import (
	"context"
	"fmt"
	"time"
)

// Pause has the server answer no client for d (CLIENT PAUSE). It ends by itself, and the
// commands that came meanwhile run then.
func (s *Server) Pause(ctx context.Context, d time.Duration) error {
	if err := s.client.ClientPause(ctx, d).Err(); err != nil {
		return fmt.Errorf("pause the server: %w", err)
	}
	return nil
}
