package command

import "time"

// replaySet walks the options of SET. NX and the comparisons fail the second
// time, GET returns what the first run wrote.
func replaySet(args []any) bool {
	for n := 3; n < len(args); n++ {
		switch a := args[n]; {
		case isWord(a, "xx"), isWord(a, "keepttl"):
		case isWord(a, "ex"), isWord(a, "px"), isWord(a, "exat"), isWord(a, "pxat"):
			n++ // its operand
		default:
			return false
		}
	}
	return len(args) >= 3
}

// replayTrim allows the forms of LTRIM that cut to a length: from the first
// element to a fixed one, or from a fixed one to the last. Any other range
// cuts again.
func replayTrim(args []any) bool {
	if len(args) != 4 {
		return false
	}
	start, ok1 := argInt(args[2])
	stop, ok2 := argInt(args[3])
	return ok1 && ok2 && (start == 0 && stop >= 0 || start < 0 && stop == -1)
}

// replayExpire refuses NX, GT and LT, which the second run no longer meets,
// and times that delete the key at once, after which the second run finds
// nothing to expire.
func replayExpire(name string, args []any) bool {
	if len(args) < 3 {
		return false
	}
	for _, a := range args[3:] {
		if !isWord(a, "xx") {
			return false
		}
	}
	n, ok := argInt(args[2])
	if !ok {
		return false
	}
	switch name {
	case "expireat":
		return n > time.Now().Unix()
	case "pexpireat":
		return n > time.Now().UnixMilli()
	}
	return n > 0
}

// destinationApart reports whether the destination, at args[at], is not among
// the arguments behind it: a result stored over one of its own sources would
// be computed from another source the second time.
func destinationApart(args []any, at int) bool {
	if len(args) <= at+1 {
		return false
	}
	for _, a := range args[at+1:] {
		switch a.(type) {
		case int, int64, float64:
			continue // numbers of keys, weights, coordinates; go-redis sends keys as text
		}
		if sameText(args[at], a) {
			return false
		}
	}
	return true
}
