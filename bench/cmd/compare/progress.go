package main

import (
	"fmt"
	"os"
	"time"
)

// progress is one line on a terminal that is written over and over. On anything
// that is no terminal it keeps silent: a log file needs no 500 lines of it.
type progress struct {
	f        *os.File
	terminal bool
	done     int
	total    int
	began    time.Time
}

func newProgress(f *os.File) *progress {
	info, err := f.Stat()
	return &progress{f: f, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (p *progress) start(total int) { p.total, p.began = total, time.Now() }

// skip steps that turn out not to be needed.
func (p *progress) skip(n int) { p.total -= n }

func (p *progress) step(scenario, variant, what string) {
	p.done++
	if !p.terminal {
		return
	}
	left := ""
	if p.done > 5 {
		per := time.Since(p.began) / time.Duration(p.done-1)
		left = ", " + (per * time.Duration(p.total-p.done+1)).Round(time.Second).String() + " left"
	}
	fmt.Fprintf(p.f, "\r\x1b[K%3d %%  %s: %s, %s%s", 100*p.done/max(p.total, 1), scenario, variant, what, left)
}

func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.f, "\r\x1b[K")
	}
}
