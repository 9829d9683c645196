package hook

import "strings"

// mayBlock reports whether a command that the table calls blocking blocks with these arguments. All do, except
// that XREAD and XREADGROUP block only when asked to.
//
//	XREAD [COUNT n] [BLOCK ms] STREAMS key ... id ...
//	XREADGROUP GROUP group consumer [COUNT n] [BLOCK ms] [CLAIM ms] [NOACK] STREAMS key ... id ...
//
// The options are walked, not searched: a consumer may be named "streams" and a stream "block". Anything that
// does not read as such a command counts as blocking.
func mayBlock(name string, args []any) bool {
	i := 1
	switch name {
	case "xread":
	case "xreadgroup":
		if len(args) < 4 || !argIs(args[1], "group") {
			return true
		}
		i = 4
	default:
		return true
	}
	for i < len(args) {
		switch {
		case argIs(args[i], "streams"):
			return false
		case argIs(args[i], "count"), argIs(args[i], "claim"):
			i += 2
		case argIs(args[i], "noack"):
			i++
		default: // BLOCK, or an option we do not know
			return true
		}
	}
	return true
}

// argIs reports whether an argument is the given lower-case word, in any of the forms that go-redis writes as a
// plain string and without regard to case. It does not allocate.
func argIs(arg any, word string) bool {
	switch v := arg.(type) {
	case string:
		return strings.EqualFold(v, word)
	case []byte:
		return strings.EqualFold(string(v), word)
	case *string:
		return v != nil && strings.EqualFold(*v, word)
	}
	return false
}
