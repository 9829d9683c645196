package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/scale"
)

// sections are the tables of the page, by the name in their marker.
func sections(m *scale.Measured) map[string]string {
	return map[string]string{
		"machine": machine(m), "idle": idleTable(m), "series": seriesTable(m), "cpu": cpuTable(m), "points": pointTable(m),
		"forecast": forecasts(m, pageScenarios()), "advice": advice(m),
	}
}

// pageScenarios are those of the flags' defaults.
func pageScenarios() []scale.Config {
	o, err := parse(nil, os.Stderr)
	if err != nil {
		panic(err) // the defaults of our own flags
	}
	return o.list
}

const (
	opening = "<!-- scalesim:"
	closing = "<!-- /scalesim -->"
)

// render puts the sections between the markers of a page.
func render(page string, parts map[string]string) (string, error) {
	var b strings.Builder
	left := len(parts)
	for {
		before, rest, found := strings.Cut(page, opening)
		b.WriteString(before)
		if !found {
			break
		}
		name, rest, ok := strings.Cut(rest, " -->")
		_, after, ok2 := strings.Cut(rest, closing)
		text, known := parts[name]
		if !ok || !ok2 || !known {
			return "", fmt.Errorf("marker %q: no such table, or it is not closed", name)
		}
		fmt.Fprintf(&b, "%s%s -->\n%s%s", opening, name, text, closing)
		page = after
		left--
	}
	if left != 0 {
		return "", fmt.Errorf("the page has %d tables too few", left)
	}
	return b.String(), nil
}

func machine(m *scale.Measured) string {
	return strings.Join(m.Machine.Lines(), "; ") + fmt.Sprintf("; %s. Other programs used %.0f %% of the processors.\n", m.Date, 100*m.Others)
}

func idleTable(m *scale.Measured) string {
	t := &table{}
	t.row("nodes", "plain, kB a node", "with Attach", "goroutines a node", "each regular connection more", "each pipeline connection", "prom.New")
	for _, i := range m.Idle {
		observed := "see below"
		if i.ObservedHeap > 0 {
			observed = kilobytes(i.ObservedHeap)
		}
		t.row(fmt.Sprint(i.Nodes), kilobytes(i.Plain), kilobytes(i.Attached), fmt.Sprintf("%.0f", i.AttachedRoutines),
			kilobytes(i.RegularConn), kilobytes(i.PipelineConn), observed)
	}
	return t.String()
}

func seriesTable(m *scale.Measured) string {
	t := &table{}
	t.row("nodes", "series of a pipe", "kB a scrape")
	for _, n := range []int{3, 100} {
		t.row(fmt.Sprint(n), fmt.Sprintf("%.0f", float64(m.Series.Pipe)+float64(n)*m.Series.Node),
			kilobytes(float64(m.Series.PipeText)+float64(n)*m.Series.NodeText))
	}
	t.row("1000", fmt.Sprint(m.Series.AtThousand), kilobytes(float64(m.Series.AtThousandText)))
	return t.String()
}

func cpuTable(m *scale.Measured) string {
	t := &table{}
	t.row("what", "callers", "commands", "client us a flush", "the line says", "us a command", "server us a flush")
	add := func(what string, list []scale.Flush, line *scale.Line) {
		for _, f := range list {
			says := ""
			if line != nil {
				says = us(line.At(f.Size))
			}
			t.row(what, fmt.Sprint(f.Callers), fmt.Sprintf("%.1f", f.Size), us(f.Client), says,
				us(time.Duration(float64(f.Client)/f.Size)), us(f.Server))
		}
	}
	add("plain client", m.CPU.Plain, nil)
	add("Attach, alone", m.CPU.Lone, nil)
	add("Attach, batch", m.CPU.Batch, &m.CPU.BatchLine)
	add("pipeline by hand", m.CPU.Pipeline, &m.CPU.PipelineLine)
	line := func(l scale.Line) string { return us(l.Fixed) + " us + " + us(l.PerCommand) + " us x n" }
	costs := m.Costs()
	return t.String() + fmt.Sprintf("\nLines: batch %s; pipeline by hand %s; server, for a batch, %s. "+
		"A batch costs less than as many commands through a plain client from %.1f commands on.\n",
		line(m.CPU.BatchLine), line(m.CPU.PipelineLine), line(m.CPU.ServerLine), costs.BreakEven())
}

// pointTable sets measured and simulated beside each other: measured | simulated.
func pointTable(m *scale.Measured) string {
	t := &table{}
	t.row("nodes", "commands/s", "link", "depth", "model", "model with jitter", "latency p50 ms", "model", "connections", "model",
		"CPU us", "model", "plain: CPU us", "model", "latency p50 ms", "model")
	for _, p := range m.Points {
		r, plain := scale.Run(m.Replay(p, false)), scale.Run(m.Replay(p, true))
		link := "loopback"
		if p.Delay > 0 {
			link = p.Delay.String()
		}
		t.row(fmt.Sprint(p.Nodes), rate(p.Rate), link, fmt.Sprintf("%.2f", p.Attach.Depth), fmt.Sprintf("%.2f", r.Depth()),
			fmt.Sprintf("%.2f", scale.Run(m.ReplayLate(p)).Depth()), ms(p.Attach.Latency), ms(r.Latency.Quantile(0.5)),
			fmt.Sprintf("%.0f + %.0f", p.Attach.Regular, p.Attach.Pipeline), fmt.Sprintf("%d + %d", r.MainConns, r.PipelineConns),
			us(p.Attach.CPU), us(r.CPUPerCommand()), us(p.Plain.CPU), us(plain.CPUPerCommand()),
			ms(p.Plain.Latency), ms(plain.Latency.Quantile(0.5)))
	}
	return t.String()
}

// advice is one client in trouble, 100 nodes with a handful of commands on the way, and what can be done.
func advice(m *scale.Measured) string {
	base := scale.Config{Nodes: 100, Rate: 100_000, RTT: time.Millisecond}
	with := func(change func(*scale.Config)) scale.Config {
		c := base
		change(&c)
		return c
	}
	named := []struct {
		name string
		scale.Config
	}{
		{"as it is", base},
		{"four clients in one (4x the rate)", with(func(c *scale.Config) { c.Rate *= 4 })},
		{"commands come in twenties", with(func(c *scale.Config) { c.Burst = 20 })},
		{"the same, twenty to one node (hash tag)", with(func(c *scale.Config) { c.Burst, c.Local = 20, true })},
		{"WithLinger(1ms)", with(func(c *scale.Config) { c.Linger = time.Millisecond })},
		{"WithLinger(5ms)", with(func(c *scale.Config) { c.Linger = 5 * time.Millisecond })},
	}
	var list []scale.Config
	for _, n := range named {
		list = append(list, n.Config)
	}
	t := &table{}
	t.row("client", "alone", "depth", "wait p50, p99 ms", "latency p50, p99 ms", "CPU us", "plain", "connections")
	for i, f := range m.Forecasts(list) {
		w := f.With
		t.row(named[i].name, fmt.Sprintf("%.0f %%", 100*w.Alone()), fmt.Sprintf("%.1f", w.Depth()),
			ms(w.Wait.Quantile(0.5))+", "+ms(w.Wait.Quantile(0.99)), ms(w.Latency.Quantile(0.5))+", "+ms(w.Latency.Quantile(0.99)),
			us(w.CPUPerCommand()), us(f.Plain.CPUPerCommand()), fmt.Sprintf("%d + %d", w.MainConns, w.PipelineConns))
	}
	return t.String()
}
