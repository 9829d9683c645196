package histogram_test

import (
	"fmt"
	"time"

	"github.com/goautopipe/redis-autopipe/telemetry/histogram"
)

func Example() {
	waits := histogram.New(histogram.Seconds) // shared

	local := histogram.NewLocal(histogram.Seconds) // one goroutine's
	for i := range 100 {
		local.Observe(int64(time.Duration(i) * time.Microsecond))
	}
	local.MergeInto(waits)
	waits.Observe(int64(3 * time.Millisecond))

	s := waits.Snapshot()
	fmt.Println(s.Count, "values, median about", s.Duration(0.5).Round(10*time.Microsecond))
	fmt.Println(s.Cumulative(nil)[6], "of them at most", histogram.Seconds.Bounds()[6], "s")
	// Output:
	// 101 values, median about 50µs
	// 100 of them at most 0.001 s
}
