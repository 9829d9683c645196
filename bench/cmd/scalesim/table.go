package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/scale"
)

// table is Markdown, aligned for the terminal too.
type table struct{ rows [][]string }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
	width := make([]int, len(t.rows[0]))
	for _, r := range t.rows {
		for i, c := range r {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	var b strings.Builder
	for n, r := range t.rows {
		for i, c := range r {
			fmt.Fprintf(&b, "| %s%s ", c, strings.Repeat(" ", width[i]-len([]rune(c))))
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, w := range width {
				b.WriteString("|" + strings.Repeat("-", w+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}

// rate is short: 10k, 1M.
func rate(r float64) string {
	switch {
	case r >= 1e6:
		return fmt.Sprintf("%.3gM", r/1e6)
	case r >= 1e3:
		return fmt.Sprintf("%.3gk", r/1e3)
	}
	return fmt.Sprintf("%.3g", r)
}

// us and ms are a duration in these units, without them.
func us(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e3) }
func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/1e6) }

func megabytes(b float64) string { return fmt.Sprintf("%.1f", b/1e6) }

func kilobytes(b float64) string { return fmt.Sprintf("%.1f", b/1e3) }

var forecastHead = []string{
	"nodes", "commands/s", "round trip", "a node has on the way", "alone", "depth, p99", "flushes in flight a node",
	"wait p50, p99 ms", "connections", "plain", "CPU us", "plain", "cores", "plain", "MB", "plain",
}

func forecastRow(t *table, f *scale.Forecast) {
	c, w, p := f.Config, f.With, f.Plain
	wait := ms(w.Wait.Quantile(0.5)) + ", " + ms(w.Wait.Quantile(0.99))
	if w.Overloaded() {
		wait = "overload"
	}
	conns := fmt.Sprint(p.MainConns)
	if p.Overloaded() {
		conns = "overload"
	}
	basic := megabytes(f.Basic)
	if p.Overloaded() {
		basic = "overload"
	}
	t.row(
		fmt.Sprint(c.Nodes), rate(c.Rate), c.RTT.String(), fmt.Sprintf("%.3g", c.Rate*c.RTT.Seconds()/float64(c.Nodes)),
		fmt.Sprintf("%.0f %%", 100*w.Alone()), fmt.Sprintf("%.1f, %d", w.Depth(), w.DepthQuantile(0.99)),
		fmt.Sprintf("%.1f", w.InFlight()), wait, fmt.Sprintf("%d + %d", w.MainConns, w.PipelineConns), conns,
		us(w.CPUPerCommand()), us(p.CPUPerCommand()),
		fmt.Sprintf("%.2f", scale.Cores(c, w.CPUPerCommand())), fmt.Sprintf("%.2f", scale.Cores(c, p.CPUPerCommand())),
		megabytes(f.Bytes), basic,
	)
}

func forecasts(m *scale.Measured, list []scale.Config) string {
	t := &table{}
	t.row(forecastHead...)
	for _, f := range m.Forecasts(list) {
		forecastRow(t, f)
	}
	return t.String()
}
