package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// table is text in columns. A column is aligned by its head: names that begin with a blank go to the right.
type table struct {
	head []string
	rows [][]string
}

const right = " " // begins the head of a column of numbers

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines are the head and the rows, without blanks at their ends.
func (t *table) lines() []string {
	widths := make([]int, len(t.head))
	all := append([][]string{nil}, t.rows...)
	for i, h := range t.head {
		all[0] = append(all[0], strings.TrimPrefix(h, right))
		for _, row := range all {
			if i < len(row) {
				widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
			}
		}
	}
	lines := make([]string, len(all))
	for n, row := range all {
		var b strings.Builder
		for i, cell := range row[:min(len(row), len(widths))] {
			if i > 0 {
				b.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if strings.HasPrefix(t.head[i], right) {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// wrap breaks text at blanks into lines of at most n characters; a longer word stays whole.
func wrap(text string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > n:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// number writes an integer with commas between the thousands.
func number[T int | uint64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// millis writes a duration in milliseconds, always, so that a column of them can be compared at a glance.
func millis(d time.Duration) string {
	ms := d.Seconds() * 1000
	if ms >= 100 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}

// plural is the number with its noun.
func plural[T int | uint64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		return number(n) + " " + noun + "es"
	}
	return number(n) + " " + noun + "s"
}
