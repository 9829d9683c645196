package command

import (
	"strconv"
	"strings"
	"unsafe"
)

// argString reads an argument that go-redis would send as text. go-redis
// itself reads names and options from string, *string and []byte alike.
func argString(arg any) (string, bool) {
	switch v := arg.(type) {
	case string:
		return v, true
	case *string:
		if v != nil {
			return *v, true
		}
	}
	return "", false
}

// isWord reports whether an argument is the given option word, in any case.
// word is lower case.
func isWord(arg any, word string) bool {
	if b, ok := arg.([]byte); ok {
		if len(b) != len(word) {
			return false
		}
		for i, c := range b {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != word[i] {
				return false
			}
		}
		return true
	}
	s, ok := argString(arg)
	return ok && len(s) == len(word) && strings.EqualFold(s, word)
}

// hasWord reports whether any argument is the given word. It takes an operand
// for an option if it reads like one; callers use it where that errs on the
// safe side.
func hasWord(args []any, word string) bool {
	for _, a := range args {
		if isWord(a, word) {
			return true
		}
	}
	return false
}

// sameText reports whether two arguments are the same text. A destination or
// source that is no text (a number as a key) counts as the same: callers ask
// in order to be safe.
func sameText(a, b any) bool {
	x, okx := argBytes(a)
	y, oky := argBytes(b)
	return !okx || !oky || x == y
}

// argBytes reads text from any of the forms go-redis sends as they are.
func argBytes(arg any) (string, bool) {
	if b, ok := arg.([]byte); ok {
		return bytesView(b), true
	}
	return argString(arg)
}

// bytesView looks at b as a string for the length of a comparison.
func bytesView(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// argInt reads a whole number as go-redis would send it.
func argInt(arg any) (int64, bool) {
	switch v := arg.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case uint32:
		return int64(v), true
	}
	s, ok := argBytes(arg)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
