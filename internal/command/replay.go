package command

import "github.com/redis/go-redis/v9"

// Replayable reports whether running cmd a second time right after the first
// changes nothing more and gives the same reply: the command is ReadOnly, or
// Idempotent with arguments that keep it so (SET, but not SET with NX or GET).
// It does not allocate.
//
// "Right after" is as far as it goes. Between a first run whose reply was lost
// and the second, another client may have written the key; the second run
// puts the first one's value back. go-redis's own retries do the same.
func (i *Info) Replayable(cmd redis.Cmder) bool {
	if i.Flags&ReadOnly != 0 {
		return true
	}
	if i.Flags&Idempotent == 0 {
		return false
	}
	return replayForm(i.Name, cmd.Args())
}

// replayForm reports whether these arguments keep an Idempotent command so.
// Arguments it cannot read count against.
func replayForm(name string, args []any) bool {
	switch name {
	case "set":
		return replaySet(args)
	case "setex", "psetex", "mset", "hmset", "lset", "setrange", "pfmerge", "xsetid":
		return true
	case "ltrim":
		return replayTrim(args)
	case "expire", "pexpire", "expireat", "pexpireat":
		return replayExpire(name, args)
	case "getex":
		// A moment in the past deletes the key: the second run finds none.
		return !hasWord(args, "exat") && !hasWord(args, "pxat")
	case "sdiffstore", "sinterstore", "sunionstore", "zdiffstore", "zinterstore", "zunionstore",
		"zrangestore", "geosearchstore":
		return destinationApart(args, 1)
	case "bitop":
		return destinationApart(args, 2)
	case "copy":
		return len(args) > 3 && hasWord(args[3:], "replace")
	case "restore":
		return len(args) > 4 && hasWord(args[4:], "replace")
	case "sort", "georadius", "georadiusbymember":
		return !hasWord(args, "store") && !hasWord(args, "storedist")
	case "bitfield":
		return !hasWord(args, "set") && !hasWord(args, "incrby")
	}
	return false
}
