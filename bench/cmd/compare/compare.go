package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/goautopipe/redis-autopipe/bench/measure"
	"github.com/goautopipe/redis-autopipe/bench/plan"
	"github.com/goautopipe/redis-autopipe/bench/report"
	"github.com/goautopipe/redis-autopipe/bench/rival"
)

// comparison is one run of a plan.
type comparison struct {
	plan     plan.Plan
	variants []*rival.Variant
	session  *measure.Session
	base     string
	out      io.Writer
	progress *progress
	results  *report.Results
}

// run all scenarios; what was measured is in results, also after an error.
func (c *comparison) run(ctx context.Context) error {
	var able []*rival.Variant
	for _, v := range c.variants {
		c.results.Variants = append(c.results.Variants, report.VariantOf(v))
		if v.Missing == "" {
			able = append(able, v)
		} else {
			fmt.Fprintf(c.out, "left out: %s. %s\n", v.Title, v.Missing)
		}
	}
	c.plan.Fit(len(able))
	s := &c.results.Settings
	s.Rounds, s.Duration, s.Warmup = c.plan.Rounds, c.plan.Duration, c.plan.Warmup
	if len(c.plan.Scenarios) == 0 {
		return nil // the cluster's part alone
	}
	fmt.Fprintf(c.out, "plan %s: %d scenarios, %d variants, %d rounds of %v; about %v\n",
		c.plan.Name, len(c.plan.Scenarios), len(able), c.plan.Rounds, c.plan.Duration.Round(time.Millisecond), c.plan.Estimate(len(able)).Round(time.Second))
	for _, l := range c.results.Machine.Lines() {
		fmt.Fprintln(c.out, l)
	}
	c.progress.start(len(c.plan.Scenarios) * len(able) * (c.plan.Rounds + 1))

	late := time.Time{}
	if c.plan.Budget > 0 {
		// A machine that is much slower than planned must not break the promise.
		late = c.results.Started.Add(c.plan.Budget + c.plan.Budget/6)
	}
	for i, sc := range c.plan.Scenarios {
		if !late.IsZero() && time.Now().After(late) {
			c.note("The time budget ran out: the last %d scenarios were left out.", len(c.plan.Scenarios)-i)
			break
		}
		err := c.scenario(ctx, sc, able)
		c.progress.clear()
		if err != nil {
			c.note("The run ended early, in the scenario of %s: %v", sc.Words(), err)
			return err
		}
		if err := c.results.Table(c.out, sc, c.base); err != nil {
			return err
		}
	}
	fmt.Fprint(c.out, report.TableNotes)
	if q := c.results.Quiet(); q != "" {
		fmt.Fprintln(c.out, q)
	}
	return nil
}

func (c *comparison) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	c.results.Notes = append(c.results.Notes, s)
	fmt.Fprintln(c.out, "note:", s)
}

func (c *comparison) scenario(ctx context.Context, sc plan.Scenario, able []*rival.Variant) error {
	var here []*rival.Variant
	for _, v := range able {
		if sc.Rate > 0 && v.Windowed {
			continue // requests that arrive one by one make no window
		}
		here = append(here, v)
	}
	c.progress.skip((len(able) - len(here)) * (c.plan.Rounds + 1))
	measured, err := c.alternate(ctx, sc, here, sc.Words(), c.session)
	if err != nil {
		return err
	}
	c.results.Measured = append(c.results.Measured, measured...)
	return nil
}

// alternate measures variants in a scenario: a warm-up each, then rounds in which they take
// turns.
func (c *comparison) alternate(ctx context.Context, sc plan.Scenario, here []*rival.Variant, words string, on rounds) ([]*report.Measured, error) {
	measured := make([]*report.Measured, len(here))
	for i, v := range here {
		c.progress.step(words, v.Name, "warm-up")
		if _, err := on.Round(ctx, v, sc, c.plan.Warmup); err != nil {
			return nil, err
		}
		measured[i] = &report.Measured{Scenario: sc, Variant: v.Name}
	}
	for round := range c.plan.Rounds {
		for _, i := range turns(round, len(here)) {
			c.progress.step(words, here[i].Name, fmt.Sprintf("round %d/%d", round+1, c.plan.Rounds))
			r, err := on.Round(ctx, here[i], sc, c.plan.Duration)
			if err != nil {
				return nil, err
			}
			measured[i].Rounds = append(measured[i].Rounds, r)
		}
	}
	for i, v := range here {
		measured[i].Report = on.Report(v)
	}
	return measured, nil
}
