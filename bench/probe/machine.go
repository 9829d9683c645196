package probe

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// tick of the kernel's processor accounting: 100 a second on every Linux that
// matters.
const tick = 10 * time.Millisecond

// BusyTime is how long all processors together have been busy since the machine
// began, with whatever program. Zero where the kernel does not tell (no /proc).
func BusyTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return busy(string(text))
}

func busy(stat string) time.Duration {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0
	}
	var ticks int64
	for i, f := range fields[1:9] { // user nice system idle iowait irq softirq steal
		if i == 3 || i == 4 {
			continue
		}
		n, _ := strconv.ParseInt(f, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * tick
}
