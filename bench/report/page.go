package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/stat"
)

// Page writes the results page: Markdown, with the rows where we lose marked.
func (r *Results) Page(w io.Writer, plots []Plot) error {
	var b strings.Builder
	b.WriteString("# Comparison\n\n<!-- Written by bench/cmd/compare. Run it again instead of editing. -->\n\n")
	r.circumstances(&b)
	r.barTable(&b)
	r.lossList(&b)
	if len(plots) > 0 {
		b.WriteString("\n## Over the number of callers\n\n")
		for _, p := range plots {
			fmt.Fprintf(&b, "![Throughput, %s](%s)\n\n![p99, %s](%s)\n\n", p.Group.Words(), p.Throughput, p.Group.Words(), p.Latency)
		}
	}
	r.Cluster.page(&b)
	b.WriteString("\n## Every scenario\n" + pageNotes)
	for _, sc := range r.Scenarios() {
		r.scenario(&b, sc)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const pageNotes = `
Medians of the rounds. "autopipe over it" is the median [lowest highest] of the rounds' ratios, of throughput in closed
loops and, inverted, of p99 in open ones; windowed rivals meet our windowed face. ` + "**▼** marks what we lose." + ` CPU is the
client process's, load drivers included. A row with "window" sends up to 200 commands before it reads; its latency is
that of the whole window, so it compares with no single command's.
`

func (r *Results) circumstances(b *strings.Builder) {
	fmt.Fprintf(b, "Plan `%s`, %s, took %s.\n\n", r.Plan, r.Started.UTC().Format("2006-01-02 15:04 MST"), round(r.Took))
	for _, l := range r.Machine.Lines() {
		fmt.Fprintf(b, "* %s\n", l)
	}
	s := r.Settings
	server := "a server that others may use as well"
	if s.OwnServer {
		server = "a redis-server of its own on the same machine, without persistence"
	}
	fmt.Fprintf(b, "* %d rounds of %s per variant and scenario, alternating in one process, after %s of warm-up\n", s.Rounds, round(s.Duration), round(s.Warmup))
	fmt.Fprintf(b, "* %s; %d connections for each pooling client; contexts %s\n", server, s.Pool, map[bool]string{true: "with a deadline", false: "without a deadline"}[s.Cancellable])
	if q := r.Quiet(); q != "" {
		fmt.Fprintf(b, "* %s\n", q)
	}
	for _, v := range r.Variants {
		if v.Missing != "" {
			fmt.Fprintf(b, "* not measured: %s. %s\n", v.Title, v.Missing)
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(b, "* %s\n", n)
	}
}

func (r *Results) barTable(b *strings.Builder) {
	b.WriteString("\n## What the design asks for\n\n| what | bar | aim | measured | |\n|---|---|---|---|---|\n")
	for _, x := range r.Bars() {
		verdict := "met"
		switch {
		case x.Measured == "":
			x.Measured, verdict = "-", "not in this run"
		case !x.Met:
			verdict = "**▼ missed**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", x.What, x.Bar, x.Aim, x.Measured, verdict)
	}
}

func (r *Results) lossList(b *strings.Builder) {
	b.WriteString("\n## Where we lose\n\n")
	if len(r.ours()) == 0 && r.Cluster == nil {
		b.WriteString("No variant of ours was measured.\n")
		return
	}
	losses, cluster := r.Losses(), r.Cluster.asResults().Losses()
	if len(losses)+len(cluster) == 0 {
		b.WriteString("In none of the comparisons below.\n")
	}
	for _, l := range losses {
		fmt.Fprintf(b, "* %s\n", l)
	}
	for _, l := range cluster {
		fmt.Fprintf(b, "* cluster, %s\n", l)
	}
}

// ours that were measured at all.
func (r *Results) ours() (out []string) {
	for _, v := range r.Variants {
		for _, m := range r.Measured {
			if v.Ours && m.Variant == v.Name {
				out = append(out, v.Name)
				break
			}
		}
	}
	return out
}

func (r *Results) scenario(b *strings.Builder, sc plan.Scenario) {
	fmt.Fprintf(b, "\n### %s\n\n", sc.Words())
	b.WriteString("| variant | commands/s | autopipe over it | CPU/cmd | allocs/cmd | B/cmd | p50 | p99 | cmds/trip |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, v := range r.Variants {
		m := r.Find(sc, v.Name)
		if m == nil {
			continue
		}
		rate := m.Of(Rate)
		fmt.Fprintf(b, "| %s | %s %s%s | %s | %s%s | %s | %s | %s | %s%s | %s |\n",
			r.label(m, v, sc), count(rate.Median), wobble(rate), r.mark(contests[0], sc, v), r.over(sc, v),
			duration(m.Of(CPU).Median), r.mark(contests[1], sc, v), digits(m.Of(Allocs).Median), count(m.Of(Bytes).Median),
			duration(m.Of(P50).Median), duration(m.Of(P99).Median), r.mark(contests[2], sc, v), digits(m.Of(PerTrip).Median))
	}
}

func (r *Results) label(m *Measured, v Variant, sc plan.Scenario) string {
	name := v.Title
	if v.Ours {
		name = "**" + name + "**"
	}
	var extra []string
	if v.Windowed {
		extra = append(extra, fmt.Sprintf("window %d", m.Rounds[0].Window))
	}
	if n := m.Rounds[0].Callers; n != sc.Callers {
		extra = append(extra, fmt.Sprintf("%d callers", n))
	}
	if n, first := m.Failed(); n > 0 {
		extra = append(extra, fmt.Sprintf("**%d failed: %s**", n, strings.ReplaceAll(first, "|", "/")))
	}
	if len(extra) > 0 {
		name += " (" + strings.Join(extra, ", ") + ")"
	}
	return name
}

// mark of a rival's cell in which it beats us.
func (r *Results) mark(c contest, sc plan.Scenario, rival Variant) string {
	if r.verdict(c, sc, rival) == stat.Loses {
		return " **▼**"
	}
	return ""
}

// over is how many times better than the rival we are.
func (r *Results) over(sc plan.Scenario, rival Variant) string {
	ours, theirs := r.Find(sc, Opponent(rival)), r.Find(sc, rival.Name)
	if ours == nil || theirs == nil {
		return ""
	}
	if sc.Rate > 0 {
		return ratio(theirs.Over(ours, P99))
	}
	return ratio(ours.Over(theirs, Rate))
}
