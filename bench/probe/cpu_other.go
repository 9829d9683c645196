//go:build !unix

package probe

import "time"

// cpuTime is not known here; reports then show zero.
func cpuTime() time.Duration { return 0 }
