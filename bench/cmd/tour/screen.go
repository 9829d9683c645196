package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// width is how wide the text is set: it fits the narrowest terminal that people still open.
const width = 78

// The few styles in use, as ANSI sequences.
const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	green = "\x1b[32m"
	reset = "\x1b[0m"
)

// screen writes the tour. Colours and a progress line that rewrites itself are for terminals only.
type screen struct {
	w      io.Writer
	live   bool   // progress lines replace each other
	colour bool   // also not if NO_COLOR is set
	onFail func() // called when nobody reads any more
}

func newScreen(w io.Writer, onFail func()) *screen {
	s := &screen{w: w, onFail: onFail}
	f, ok := w.(*os.File)
	s.live = ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
	s.colour = s.live && os.Getenv("NO_COLOR") == ""
	return s
}

func (s *screen) print(text string) {
	if _, err := io.WriteString(s.w, text); err != nil {
		s.onFail()
	}
}

func (s *screen) style(style, text string) string {
	if !s.colour {
		return text
	}
	return style + text + reset
}

func (s *screen) blank() { s.print("\n") }

// title of the tour or of an act.
func (s *screen) title(text string) { s.print(s.style(bold, text) + "\n\n") }

// pair is a name and what it stands for.
func (s *screen) pair(name, text string) {
	s.block(fmt.Sprintf("  %-8s ", name), text)
}

// heading of a step.
func (s *screen) heading(n int, text string) {
	s.print("\n" + s.style(bold, fmt.Sprintf("%d. %s", n, text)) + "\n")
}

// code is the lines that a user would write for what follows.
func (s *screen) code(lines ...string) {
	for _, l := range lines {
		s.print(s.style(dim, "     "+l) + "\n")
	}
}

// result of a step.
func (s *screen) result(text string) { s.block("   ", text) }

// note is an aside.
func (s *screen) note(text string) { s.block("  ", text) }

// strong is a sentence that should not be missed. It is one line however long, so that it can be found by others.
func (s *screen) strong(text string) { s.print(s.style(bold+green, text) + "\n") }

// block sets text, wrapped, with a first prefix and blanks below it.
func (s *screen) block(prefix, text string) {
	for _, line := range wrap(text, width-len(prefix)) {
		s.print(prefix + line + "\n")
		prefix = strings.Repeat(" ", len(prefix))
	}
}

// table prints a table of one style, its head dimmed.
func (s *screen) table(indent string, t table) {
	for i, line := range t.lines() {
		line = indent + line
		if i == 0 {
			line = s.style(dim, line)
		}
		s.print(line + "\n")
	}
}

// progress says what is being done: on a terminal in place of the last progress line, else not at all.
func (s *screen) progress(text string) {
	if s.live {
		text = "  " + text
		if r := []rune(text); len(r) > width { // a line that the terminal breaks could not be replaced
			text = string(r[:width])
		}
		s.print("\r\x1b[K" + s.style(dim, text))
	}
}

// done is a plain line where progress lines are not shown.
func (s *screen) done(text string) {
	if !s.live {
		s.print("  " + text + "\n")
	}
}

// endProgress removes the progress line.
func (s *screen) endProgress() {
	if s.live {
		s.print("\r\x1b[K")
	}
}
