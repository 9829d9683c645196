package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/stat"
)

// count of things, in a width that a table likes: 950, 12.3k, 1.25M.
func count(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.2fM", v/1e6)
	case v >= 1e5:
		return fmt.Sprintf("%.0fk", v/1e3)
	case v >= 1e3:
		return fmt.Sprintf("%.1fk", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}

// duration of v nanoseconds, three digits: 45.1µs, 1.23ms, 2.05s.
func duration(v float64) string {
	switch {
	case v >= 1e9:
		return digits(v/1e9) + "s"
	case v >= 1e6:
		return digits(v/1e6) + "ms"
	case v >= 1e3:
		return digits(v/1e3) + "µs"
	}
	return fmt.Sprintf("%.0fns", v)
}

func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// ratio with its spread: 2.05x [1.98 2.11].
func ratio(s stat.Spread) string {
	switch s.N {
	case 0:
		return "-"
	case 1:
		return digits(s.Median) + "x"
	}
	return fmt.Sprintf("%sx [%s %s]", digits(s.Median), digits(s.Min), digits(s.Max))
}

// wobble is half the spread in percent of the median.
func wobble(s stat.Spread) string {
	if s.N < 2 || s.Median == 0 {
		return ""
	}
	return fmt.Sprintf("±%.0f%%", 50*(s.Max-s.Min)/s.Median)
}

func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// pad to the width in characters, not bytes.
func pad(s string, n int, alignRight bool) string {
	fill := strings.Repeat(" ", max(0, n-len([]rune(s))))
	if alignRight {
		return fill + s
	}
	return s + fill
}

// columns lines up rows; the first column is text, the others are numbers.
func columns(rows [][]string) string {
	var wide []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], len([]rune(c)))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		for i, c := range r {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(pad(c, wide[i], i > 0))
		}
		b.WriteString("\n")
	}
	return b.String()
}
