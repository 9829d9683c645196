package command

import (
	"reflect"

	"github.com/redis/go-redis/v9"
)

// A form says which arguments a command must have for one of its reply types.
// The zero form asks nothing.
type form struct {
	need, deny [2]string // option words, lower case; every need, no deny
	min, max   int       // number of arguments, the name included; max 0 is no limit
}

// fits holds the form against the arguments behind the name and the key.
func (f *form) fits(args []any) bool {
	if len(args) < f.min || f.max != 0 && len(args) > f.max {
		return false
	}
	var tail []any
	if len(args) > 2 {
		tail = args[2:]
	}
	for _, w := range f.need {
		if w != "" && !hasWord(tail, w) {
			return false
		}
	}
	for _, w := range f.deny {
		if w != "" && hasWord(tail, w) {
			return false
		}
	}
	return true
}

// words names option words; an empty one asks nothing.
func words(w ...string) (out [2]string) { copy(out[:], w); return out }

type formKey struct {
	name string
	typ  reflect.Type
}

// forms lists the types that read only some forms of a command's reply.
// Reading a wrong form fails half-way through a reply.
var forms = buildForms()

func buildForms() map[formKey]*form {
	var (
		integer  = reflect.TypeFor[*redis.IntCmd]()
		integers = reflect.TypeFor[*redis.IntSliceCmd]()
		float    = reflect.TypeFor[*redis.FloatCmd]()
		text     = reflect.TypeFor[*redis.StringCmd]()
		texts    = reflect.TypeFor[*redis.StringSliceCmd]()
		scored   = reflect.TypeFor[*redis.ZSliceCmd]()
		any      = reflect.TypeFor[*redis.SliceCmd]()
	)
	m := map[formKey]*form{}
	add := func(typ reflect.Type, f form, names ...string) {
		for _, n := range names {
			m[formKey{n, typ}] = &f
		}
	}

	// Members alone or with scores: flat in one protocol, nested in the other.
	ranges := []string{"zrange", "zrangebyscore", "zrevrange", "zrevrangebyscore", "zdiff", "zinter", "zunion"}
	add(scored, form{need: words("withscores")}, append(ranges, "zrandmember")...)
	add(texts, form{deny: words("withscores")}, ranges...)
	add(texts, form{deny: words("withscores"), min: 3}, "zrandmember")
	add(reflect.TypeFor[*redis.RankWithScoreCmd](), form{need: words("withscore")}, "zrank", "zrevrank")
	add(integer, form{deny: words("withscore")}, "zrank", "zrevrank")
	add(reflect.TypeFor[*redis.KeyValueSliceCmd](), form{need: words("withvalues")}, "hrandfield")
	add(texts, form{deny: words("withvalues"), min: 3}, "hrandfield")

	// One element without a count, a list with one.
	popped := []string{"lpop", "rpop", "spop", "srandmember", "vrandmember"}
	add(text, form{max: 2}, popped...)
	add(texts, form{min: 3}, popped...)
	add(integers, form{need: words("count")}, "lpos")
	add(integer, form{deny: words("count")}, "lpos")

	// An option that turns the reply into something else.
	add(float, form{need: words("incr")}, "zadd")
	add(integer, form{deny: words("incr")}, "zadd")
	add(integer, form{need: words("store")}, "sort")
	add(texts, form{deny: words("store")}, "sort")
	add(any, form{deny: words("store")}, "sort")
	add(texts, form{deny: words("withcoord", "withdist")}, "geosearch")
	add(reflect.TypeFor[*redis.XAutoClaimJustIDCmd](), form{need: words("justid")}, "xautoclaim")
	add(reflect.TypeFor[*redis.XAutoClaimCmd](), form{deny: words("justid")}, "xautoclaim")
	add(reflect.TypeFor[*redis.XAutoClaimWithDeletedCmd](), form{deny: words("justid")}, "xautoclaim")
	add(texts, form{need: words("justid")}, "xclaim")
	add(reflect.TypeFor[*redis.XMessageSliceCmd](), form{deny: words("justid")}, "xclaim")
	add(reflect.TypeFor[*redis.XPendingCmd](), form{max: 3}, "xpending")
	add(reflect.TypeFor[*redis.XPendingExtCmd](), form{min: 4}, "xpending")

	// Newer commands and modules.
	add(reflect.TypeFor[*redis.AREntrySliceCmd](), form{need: words("withvalues")}, "argrep")
	add(reflect.TypeFor[*redis.UintSliceCmd](), form{deny: words("withvalues")}, "argrep")
	add(reflect.TypeFor[*redis.IncrEXFloatCmd](), form{need: words("byfloat")}, "increx")
	add(reflect.TypeFor[*redis.IncrEXIntCmd](), form{deny: words("byfloat")}, "increx")
	add(reflect.TypeFor[*redis.MapStringIntCmd](), form{need: words("withcount")}, "topk.list")
	add(texts, form{deny: words("withcount")}, "topk.list")
	add(reflect.TypeFor[*redis.VectorScoreSliceSliceCmd](), form{need: words("withscores")}, "vlinks")
	add(reflect.TypeFor[*redis.StringSliceSliceCmd](), form{deny: words("withscores")}, "vlinks")
	add(texts, form{deny: words("withscores", "withattribs")}, "vsim")
	add(reflect.TypeFor[*redis.VectorScoreSliceCmd](), form{need: words("withscores"), deny: words("withattribs")}, "vsim")
	add(reflect.TypeFor[*redis.VectorAttribSliceCmd](), form{need: words("withattribs"), deny: words("withscores")}, "vsim")
	add(reflect.TypeFor[*redis.VectorScoreAttribSliceCmd](), form{need: words("withscores", "withattribs")}, "vsim")
	return m
}

// formAccepts holds a type that fits only some forms against the arguments.
func (i *Info) formAccepts(t reflect.Type, args []any) bool {
	if !i.hasForms {
		return true
	}
	switch i.Name {
	case "georadius", "georadiusbymember":
		// Its IntCmd is for STORE; anything else is a list of places.
		return hasWord(args, "store") || hasWord(args, "storedist")
	case "geosearch":
		if t == reflect.TypeFor[*redis.StringSliceCmd]() && hasWord(args, "withhash") {
			return false
		}
	case "arop":
		whole := len(args) > 4 && !isWord(args[4], "sum") && !isWord(args[4], "min") && !isWord(args[4], "max")
		return whole == (t == reflect.TypeFor[*redis.IntCmd]())
	}
	f := forms[formKey{i.Name, t}]
	return f == nil || f.fits(args)
}
