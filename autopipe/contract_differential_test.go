package autopipe_test

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/autopipe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// Go-redis itself is the judge: every method of redis.Cmdable that works on the server is called, with the same
// arguments in the same order, through a plain client and through a hooked one that others keep busy, each with a server
// of its own that holds the same data. Values and error texts must be the same.

// The test fails if it compares less than this: a change that makes it pass over commands must be seen.
const (
	diffMethods = 290 // methods that worked at least once
	diffShared  = 280 // methods whose command rode in a batch with others
)

// diffSkip names methods that are not compared, and why.
var diffSkip = map[string]string{
	"Pipeline": "no command", "Pipelined": "no command", "TxPipeline": "no command", "TxPipelined": "no command",
	"Shutdown": "ends the server", "ShutdownSave": "ends the server", "ShutdownNoSave": "ends the server",
	"Quit": "go-redis panics: not implemented", "Sync": "go-redis panics: not implemented",
	"SlaveOf": "makes the server a replica, empty and read-only", "ReplicaOf": "as SlaveOf",
	"ClientPause": "holds the company too; TestState_ConnLeftInFlight has it", "ClientKillByFilter": "kills the company's connections",
	"BgSave": "forks, and the next call is told so or not", "BgRewriteAOF": "as BgSave",
	"ClientTracking": "leaves a pooled connection in another state", "ClientTrackingOn": "as ClientTracking", "ClientTrackingOff": "as ClientTracking",
	"ClientMaintNotifications": "as ClientTracking", "Hello": "as ClientTracking",
	"ConfigRewrite": "needs a file", "DebugObject": "the reply holds addresses",
	"XAutoClaim": "a pause in milliseconds decides; by hand below", "XAutoClaimJustID": "as XAutoClaim", "XAutoClaimWithDeleted": "as XAutoClaim",
}

// diffVaries names methods whose reply varies by nature, and what of it can be compared: nil is its type and error only.
var diffVaries = map[string]func(string) string{
	"Time": nil, "LastSave": nil, "Info": nil, "InfoMap": nil, "MemoryUsage": nil, // clocks and allocators
	"ClientID": nil, "ClientInfo": nil, "ClientList": nil, "ClientGetName": nil, // connections
	"RandomKey": nil, "SRandMember": nil, "SPop": nil, "SPopN": nil, "SRandMemberN": nil, "HRandField": nil, // chance
	"HRandFieldWithValues": nil, "ZRandMember": nil, "ZRandMemberWithScores": nil, "ACLGenPass": nil,
	"SlowLogGet": nil, "SlowLogLen": nil, "Latency": nil, "LatencyReset": nil, "ACLLog": nil, // what took long, and when
	"Scan": nil, "ScanType": nil, "Keys": diffSort, "SScan": nil, // order by a seed of the server's
	"Command": nil, "CommandList": diffSort, "FunctionList": diffSort, // a map
	"PTTL": diffNoMillis, "PExpireTime": nil, "ExpireTime": nil, // counts down
	"XInfoConsumers": diffNoMillis, "XInfoStreamFull": diffNoSeen, "XPendingExt": diffNoMillis, // idle times
	"ObjectIdleTime": nil, // seconds
	"ConfigGet":      nil, // ports and directories
	"ACLList":        diffNoHash,
}

var diffDigits = regexp.MustCompile(`(\d+(\.\d+)?(ms|s|m|h)|\d{9,}|0x[0-9a-f]+)+`)

func diffNoMillis(s string) string { return diffDigits.ReplaceAllString(s, "N") }
func diffNoSeen(s string) string {
	return regexp.MustCompile(`(Seen|Active|Delivery)Time:[^}]*? \+\d{4} \w+`).ReplaceAllString(diffNoMillis(s), "$1")
}
func diffNoHash(s string) string { return regexp.MustCompile(`[0-9a-f]{64}`).ReplaceAllString(s, "H") }
func diffSort(s string) string {
	w := strings.Fields(strings.NewReplacer("[", " ", "]", " ", "{", " ", "}", " ").Replace(s))
	slices.Sort(w)
	return strings.Join(w, " ")
}

// diffCase is one call of a method.
type diffCase struct {
	method string
	call   func(c redis.Cmdable) redis.Cmder
	after  bool // finds the data as the case before left it
}

// diffData is what each method finds. Every text argument that is made up is "1", so key "1" has the type that the
// method's name speaks of; the other keys have one each.
func diffData(t *testing.T, rdb *redis.Client, kindOf1 string) {
	t.Helper()
	p := rdb.Pipeline()
	p.FlushAll(stCtx)
	key := func(kind, k string) {
		switch kind {
		case "hash":
			p.HSet(stCtx, k, "1", "10", "f", "v", "g", "2.5")
		case "list":
			p.RPush(stCtx, k, "1", "b", "c", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13")
		case "set":
			p.SAdd(stCtx, k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14) // integers: their order is the same everywhere
		case "zset":
			p.ZAdd(stCtx, k, redis.Z{Score: 1, Member: "1"}, redis.Z{Score: 2, Member: "b"}, redis.Z{Score: 2.5, Member: "c"},
				redis.Z{Score: 4, Member: "d"}, redis.Z{Score: 5, Member: "e"}, redis.Z{Score: 6, Member: "f"})
		case "stream":
			for _, id := range []string{"1-1", "1-2", "2-1", "3-1"} {
				p.XAdd(stCtx, &redis.XAddArgs{Stream: k, ID: id, Values: []string{"f", id}})
			}
			p.XGroupCreate(stCtx, k, "1", "0")
			p.XReadGroup(stCtx, &redis.XReadGroupArgs{Group: "1", Consumer: "1", Streams: []string{k, ">"}, Count: 2, Block: -1})
		case "geo":
			p.GeoAdd(stCtx, k, &redis.GeoLocation{Name: "1", Longitude: 1, Latitude: 1}, &redis.GeoLocation{Name: "b", Longitude: 1.001, Latitude: 1})
		case "hll":
			p.PFAdd(stCtx, k, "a", "b", "c")
		default:
			p.Set(stCtx, k, "1", 0)
		}
	}
	for _, kind := range []string{"hash", "list", "set", "zset", "stream", "geo", "hll", "text"} {
		key(kind, kind)
	}
	if kindOf1 != "" {
		key(kindOf1, "1")
	}
	if _, err := p.Exec(stCtx); err != nil {
		t.Fatal(err)
	}
}

// diffKind is the type of key that a method wants.
func diffKind(method string) string {
	for _, k := range []struct{ prefix, kind string }{
		{"Geo", "geo"}, {"PF", "hll"}, {"Set", "text"}, {"Str", "text"}, {"Sort", "list"}, {"Scan", "text"}, {"Save", "text"},
		{"Script", "text"}, {"SlowLog", "text"}, {"SPublish", "text"}, {"Z", "zset"}, {"X", "stream"}, {"H", "hash"},
		{"LCS", "text"}, {"L", "list"}, {"RPush", "list"}, {"RPop", "list"}, {"BL", "list"}, {"BRPop", "list"}, {"BZ", "zset"}, {"S", "set"},
	} {
		if strings.HasPrefix(method, k.prefix) {
			return k.kind
		}
	}
	return "text"
}

// diffOutcome is what a caller can see of a command.
func diffOutcome(method string, cmd redis.Cmder) string {
	var out []string
	for _, v := range reflect.ValueOf(cmd).MethodByName("Val").Call(nil) {
		out = append(out, diffText(v))
	}
	s := strings.Join(out, ", ")
	if vary, ok := diffVaries[method]; ok {
		if vary == nil {
			s = "a reply"
		} else {
			s = vary(s)
		}
	}
	return fmt.Sprintf("%T %s; %v", cmd, s, cmd.Err())
}

// diffText prints a value with whatever its pointers point to; fmt sorts maps.
func diffText(v reflect.Value) string {
	for v.Kind() == reflect.Pointer && !v.IsNil() || v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			var parts []string
			for i := range v.Len() {
				parts = append(parts, diffText(v.Index(i)))
			}
			return "[" + strings.Join(parts, " ") + "]"
		}
	case reflect.Invalid:
		return "nil"
	}
	return fmt.Sprintf("%+v", v)
}

// diffCall calls one method and turns a panic (arguments that go-redis refuses) into text.
func diffCall(c diffCase, rdb redis.Cmdable) (cmd redis.Cmder, panicked string) {
	defer func() {
		if r := recover(); r != nil {
			panicked = fmt.Sprint(r)
		}
	}()
	return c.call(rdb), ""
}

func TestDiff_EveryMethod(t *testing.T) {
	byHand := diffByHand()
	for _, mode := range []struct {
		name   string
		leave  bool // a caller that can leave has its command travel as a copy, and the reply copied back
		kind   func(method string) string
		byHand []diffCase
	}{
		{"right type", false, diffKind, byHand},
		{"right type, RESP2", false, diffKind, byHand},
		{"right type, may leave", true, diffKind, byHand},
		{"wrong type, may leave", true, func(m string) string { return map[bool]string{true: "list", false: "text"}[diffKind(m) == "text"] }, nil},
		{"no such key", false, func(string) string { return "" }, nil},
	} {
		t.Run(mode.name, func(t *testing.T) {
			cases := append(diffMade(), mode.byHand...)
			diffCtx = stCtx
			if mode.leave {
				var cancel context.CancelFunc
				diffCtx, cancel = context.WithTimeout(stCtx, time.Minute)
				defer cancel()
			}
			opt := func(o *redis.Options) {
				if strings.Contains(mode.name, "RESP2") {
					o.Protocol = 2
				}
			}
			own := redistest.Run(t)
			plain, hooked, setup := redistest.Run(t).Client(t, opt), own.Client(t, opt), own.Client(t)
			ap, rec := autopipe.New(autopipe.WithMaxInFlight(1)), stRecord() // one in flight: whoever comes meanwhile shares
			hooked.AddHook(ap)
			hooked.AddHook(rec)
			stop := stCompany(2, func(int) { hooked.Get(stCtx, "nobody has this key") })
			defer stop()

			worked, shared, calls := map[string]bool{}, map[string]bool{}, 0
			last := ""
			for _, c := range cases {
				if c.method != last && !c.after { // each method finds the data as it was
					last = c.method
					diffData(t, plain, mode.kind(c.method))
					diffData(t, setup, mode.kind(c.method))
				}
				a, pa := diffCall(c, plain)
				if pa == "" && reflect.ValueOf(a).IsNil() {
					continue
				}
				var name string
				before := 0
				if pa == "" {
					name = a.Name()
					before = diffCount(rec, name)
				}
				b, pb := diffCall(c, hooked)
				calls++
				if pa != "" || pb != "" {
					if pa != pb {
						t.Errorf("%s: panic %q, plain %q", c.method, pb, pa)
					}
					continue
				}
				if x, y := diffOutcome(c.method, a), diffOutcome(c.method, b); x != y {
					t.Errorf("%s: %v\n got   %.300s\n plain %.300s", c.method, a.Args(), y, x)
				}
				if name != "get" && diffCount(rec, name) > before {
					shared[c.method] = true
				}
				if a.Err() == nil || a.Err() == redis.Nil {
					worked[c.method] = true
				}
			}
			stop()
			t.Logf("%d calls of %d methods compared, of which %d worked on this server and %d shared a batch; %v",
				calls, len(diffNames(cases)), len(worked), len(shared), ap.Stats())
			for cause, n := range ap.Stats().Retries {
				if n != 0 {
					t.Errorf("%d commands had to be sent again (%s): one of the above broke its batch", n, cause)
				}
			}
			if mode.byHand != nil && len(worked) < diffMethods || len(shared) < diffShared {
				t.Errorf("%d methods worked and %d shared a batch; want %d and %d", len(worked), len(shared), diffMethods, diffShared)
			}
		})
	}
}

func diffCount(rec *stRecorder, name string) int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.shared[name]
}

func diffNames(cases []diffCase) []string {
	var names []string
	for _, c := range cases {
		names = append(names, c.method)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// An error reply is read well by every reply type that may share a batch, those of module commands that the user lets
// in included (this server answers each with "unknown command"): otherwise the replies behind it are lost.
func TestDiff_ErrorReplyHarmsNobody(t *testing.T) {
	srv := redistest.Run(t)
	diffCtx = stCtx
	cases := diffMade()
	pipe := srv.Client(t).Pipeline() // never sent: it tells the commands' names
	for _, c := range cases {
		diffCall(c, pipe)
	}
	var modules []string
	for _, cmd := range pipe.Cmds() {
		if strings.Contains(cmd.Name(), ".") {
			modules = append(modules, cmd.Name())
		}
	}
	rdb := srv.Client(t)
	ap, rec := autopipe.New(autopipe.WithMaxInFlight(1), autopipe.WithBatched(modules...)), stRecord()
	rdb.AddHook(ap)
	rdb.AddHook(rec)
	var mu sync.Mutex
	failed := map[string]bool{}
	var now atomic.Value // the method that is being called
	now.Store("")
	stop := stCompany(4, func(int) {
		method := now.Load()
		if err := rdb.Incr(stCtx, "company").Err(); err != nil {
			mu.Lock()
			failed[fmt.Sprintf("during %v: %v", method, err)] = true
			mu.Unlock()
		}
	})
	defer stop()
	for _, c := range cases {
		pipe.Discard()
		if diffCall(c, pipe); pipe.Len() == 0 || !strings.Contains(pipe.Cmds()[0].Name(), ".") {
			continue
		}
		now.Store(c.method)
		diffCall(c, rdb)
	}
	stop()
	for text := range failed {
		t.Error(text)
	}
	if rec.shared["ft.search"] == 0 || rec.shared["json.get"] == 0 || rec.shared["ts.get"] == 0 {
		t.Errorf("the commands of modules did not share batches: %v", ap.Stats())
	}
}

// diffCtx is the context of all calls of one run.
var diffCtx context.Context

// diffMade makes up arguments for every method of redis.Cmdable: each text is "1", each number 0, 1 or 2, lists and
// options full or empty.
func diffMade() []diffCase {
	var cases []diffCase
	iface := reflect.TypeFor[redis.Cmdable]()
	for i := range iface.NumMethod() {
		m := iface.Method(i)
		if diffSkip[m.Name] != "" {
			continue
		}
		byHand := strings.HasPrefix(m.Name, "B") && strings.Contains(m.Type.String(), "time.Duration") ||
			strings.HasPrefix(m.Name, "XRead") || m.Name == "Migrate"
		if byHand { // they block
			continue
		}
		for _, s := range []diffStyle{{1, false, false}, {1, false, true}, {1, true, true}, {0, true, false}, {0, false, false}, {2, false, true}} {
			cases = append(cases, diffCase{m.Name, func(c redis.Cmdable) redis.Cmder {
				f := reflect.ValueOf(c).MethodByName(m.Name)
				cmd, _ := f.Call(s.args(f.Type()))[0].Interface().(redis.Cmder)
				return cmd
			}, false})
		}
	}
	return cases
}

// diffStyle is one way to make up arguments.
type diffStyle struct {
	num   int
	empty bool // no variadics, no lists, no options
	flag  bool // every bool
}

func (s diffStyle) args(f reflect.Type) (in []reflect.Value) {
	for i := range f.NumIn() {
		t := f.In(i)
		if f.IsVariadic() && i == f.NumIn()-1 {
			if !s.empty {
				in = append(in, s.value(t.Elem(), 0), s.value(t.Elem(), 0))
			}
			break
		}
		in = append(in, s.value(t, 0))
	}
	return in
}

func (s diffStyle) value(t reflect.Type, depth int) reflect.Value {
	switch t {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(&diffCtx).Elem()
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Unix(4e9, 0))
	case reflect.TypeFor[time.Duration]():
		return reflect.ValueOf(time.Duration(s.num) * time.Hour)
	case reflect.TypeFor[redis.Vector]():
		return reflect.ValueOf(&redis.VectorValues{Val: []float64{1}})
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		v.SetString("1")
	case reflect.Bool:
		v.SetBool(s.flag)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(s.num))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(s.num))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(s.num))
	case reflect.Interface:
		if t.NumMethod() == 0 {
			v.Set(reflect.ValueOf("1"))
		}
	case reflect.Pointer:
		if depth < 4 {
			p := reflect.New(t.Elem())
			p.Elem().Set(s.value(t.Elem(), depth+1))
			v.Set(p)
		}
	case reflect.Slice:
		if !s.empty && depth < 4 {
			v = reflect.MakeSlice(t, 2, 2)
			for i := range 2 {
				v.Index(i).Set(s.value(t.Elem(), depth+1))
			}
		}
	case reflect.Map:
		if !s.empty {
			v = reflect.MakeMap(t)
			v.SetMapIndex(s.value(t.Key(), depth+1), s.value(t.Elem(), depth+1))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && depth < 4 && !(s.empty && depth > 0) {
				v.Field(i).Set(s.value(f.Type, depth+1))
			}
		}
	}
	return v
}

// diffByHand is for what made-up arguments do not reach: words that must be right, and what blocks unless there is data.
func diffByHand() []diffCase {
	var cases []diffCase
	add := func(method string, call func(c redis.Cmdable, x context.Context) redis.Cmder) {
		cases = append(cases, diffCase{method, func(c redis.Cmdable) redis.Cmder { return call(c, diffCtx) }, false})
	}
	then := func(method string, call func(c redis.Cmdable, x context.Context) redis.Cmder) {
		add(method, call)
		cases[len(cases)-1].after = true
	}
	type cm = redis.Cmdable
	type cx = context.Context
	type cmd = redis.Cmder

	add("BLPop", func(c cm, x cx) cmd { return c.BLPop(x, time.Second, "none", "list") })
	add("BRPop", func(c cm, x cx) cmd { return c.BRPop(x, time.Second, "none", "list") })
	add("BLMPop", func(c cm, x cx) cmd { return c.BLMPop(x, time.Second, "left", 2, "none", "list") })
	add("BLMove", func(c cm, x cx) cmd { return c.BLMove(x, "list", "to", "left", "right", time.Second) })
	add("BRPopLPush", func(c cm, x cx) cmd { return c.BRPopLPush(x, "list", "to", time.Second) })
	add("BZPopMin", func(c cm, x cx) cmd { return c.BZPopMin(x, time.Second, "none", "zset") })
	add("BZPopMax", func(c cm, x cx) cmd { return c.BZPopMax(x, time.Second, "none", "zset") })
	add("BZMPop", func(c cm, x cx) cmd { return c.BZMPop(x, time.Second, "max", 2, "none", "zset") })
	add("BZMPop", func(c cm, x cx) cmd { return c.BZMPop(x, time.Second, "max", 2, "text") })
	add("Wait", func(c cm, x cx) cmd { return c.(*redis.Client).Wait(x, 0, time.Second) })
	add("Migrate", func(c cm, x cx) cmd { return c.Migrate(x, "127.0.0.1", "1", "none", 0, time.Second) })
	add("XRead", func(c cm, x cx) cmd {
		return c.XRead(x, &redis.XReadArgs{Streams: []string{"stream", "1-1"}, Count: 2, Block: time.Second})
	})
	add("XRead", func(c cm, x cx) cmd {
		return c.XRead(x, &redis.XReadArgs{Streams: []string{"stream", "3-1"}, Block: -1})
	})
	add("XReadGroup", func(c cm, x cx) cmd {
		return c.XReadGroup(x, &redis.XReadGroupArgs{Group: "1", Consumer: "2", Streams: []string{"stream", ">"}, Block: -1})
	})

	add("LInsert", func(c cm, x cx) cmd { return c.LInsert(x, "list", "before", "b", "a") })
	add("LMove", func(c cm, x cx) cmd { return c.LMove(x, "list", "to", "left", "right") })
	add("LMPop", func(c cm, x cx) cmd { return c.LMPop(x, "left", 2, "none", "list") })
	add("ZMPop", func(c cm, x cx) cmd { return c.ZMPop(x, "min", 2, "none", "zset") })
	for _, sort := range []*redis.Sort{{Alpha: true}, {Alpha: true, Order: "DESC", Offset: 1, Count: 3}, {By: "nosort", Get: []string{"#"}}} {
		add("Sort", func(c cm, x cx) cmd { return c.Sort(x, "list", sort) })
		add("SortRO", func(c cm, x cx) cmd { return c.SortRO(x, "list", sort) })
		add("SortInterfaces", func(c cm, x cx) cmd { return c.SortInterfaces(x, "list", sort) })
		add("SortStore", func(c cm, x cx) cmd { return c.SortStore(x, "list", "to", sort) })
	}

	for _, set := range []redis.SetArgs{{Mode: "NX"}, {Mode: "XX", Get: true}, {TTL: time.Hour}, {KeepTTL: true, Get: true}} {
		add("SetArgs", func(c cm, x cx) cmd { return c.SetArgs(x, "text", []byte("v"), set) })
		add("SetArgs", func(c cm, x cx) cmd { return c.SetArgs(x, "new", 1.5, set) })
	}
	add("XTrimMaxLen", func(c cm, x cx) cmd { return c.XTrimMaxLen(x, "stream", 2) })
	add("ConfigSet", func(c cm, x cx) cmd { return c.ConfigSet(x, "maxmemory-samples", "6") })
	add("ACLDryRun", func(c cm, x cx) cmd { return c.ACLDryRun(x, "default", "get", "k") })
	add("CommandGetKeys", func(c cm, x cx) cmd { return c.CommandGetKeys(x, "mset", "a", 1, "b", 2) })
	add("CommandGetKeysAndFlags", func(c cm, x cx) cmd { return c.CommandGetKeysAndFlags(x, "lmove", "a", "b", "left", "right") })
	then("ConfigSet", func(c cm, x cx) cmd { return c.ConfigSet(x, "maxmemory-policy", "allkeys-lfu") })
	add("ObjectFreq", func(c cm, x cx) cmd { return c.ObjectFreq(x, "text") })
	add("ConfigSet", func(c cm, x cx) cmd { return c.ConfigSet(x, "maxmemory-policy", "noeviction") })
	add("HScanNoValues", func(c cm, x cx) cmd { return c.HScanNoValues(x, "hash", 0, "*", 10) })

	const script = "redis.call('incr', KEYS[1]) return {KEYS[1], ARGV[1], 7, false, {ok='fine'}, redis.call('get', KEYS[1])}"
	add("Eval", func(c cm, x cx) cmd { return c.Eval(x, script, []string{"text"}, "a") })
	add("Eval", func(c cm, x cx) cmd { return c.Eval(x, "return redis.error_reply('LOADING not really')", nil) })
	add("Eval", func(c cm, x cx) cmd { return c.Eval(x, "return 3.9", nil) })
	add("Eval", func(c cm, x cx) cmd { return c.Eval(x, "return {}", nil) })
	add("Eval", func(c cm, x cx) cmd { return c.Eval(x, "not lua", nil) })
	add("EvalRO", func(c cm, x cx) cmd { return c.EvalRO(x, "return redis.call('get', KEYS[1])", []string{"text"}) })
	add("EvalRO", func(c cm, x cx) cmd { return c.EvalRO(x, script, []string{"text"}, "a") })
	add("EvalSha", func(c cm, x cx) cmd { return redis.NewScript(script).EvalSha(x, c, []string{"text"}, "a") })

	add("ScriptLoad", func(c cm, x cx) cmd { return c.ScriptLoad(x, script) })
	then("EvalShaRO", func(c cm, x cx) cmd { return c.EvalShaRO(x, redis.NewScript(script).Hash(), []string{"text"}, "a") })
	then("EvalSha", func(c cm, x cx) cmd { return c.EvalSha(x, redis.NewScript(script).Hash(), []string{"text"}, "a") })
	then("ScriptExists", func(c cm, x cx) cmd { return c.ScriptExists(x, redis.NewScript(script).Hash(), "none") })
	const library = "#!lua name=lib\nredis.register_function('f', function(k, a) return redis.call('incr', k[1]) end)\n" +
		"redis.register_function{function_name='r', callback=function(k, a) return a[1] end, flags={'no-writes'}}"
	add("FunctionLoad", func(c cm, x cx) cmd { return c.FunctionLoad(x, library) })
	then("FunctionLoadReplace", func(c cm, x cx) cmd { return c.FunctionLoadReplace(x, library) })
	then("FCall", func(c cm, x cx) cmd { return c.FCall(x, "f", []string{"text"}, "a") })
	then("FCallRO", func(c cm, x cx) cmd { return c.FCallRO(x, "r", []string{"text"}, "a") })
	then("FCallRo", func(c cm, x cx) cmd { return c.FCallRo(x, "f", []string{"text"}, "a") })
	then("FunctionList", func(c cm, x cx) cmd { return c.FunctionList(x, redis.FunctionListQuery{WithCode: true}) })
	then("FunctionDump", func(c cm, x cx) cmd { return c.FunctionDump(x) })
	then("FunctionDelete", func(c cm, x cx) cmd { return c.FunctionDelete(x, "lib") })

	add("GeoDist", func(c cm, x cx) cmd { return c.GeoDist(x, "geo", "1", "b", "m") })
	query := func() *redis.GeoRadiusQuery { // go-redis writes into it: it is good for one call
		return &redis.GeoRadiusQuery{Radius: 200, Unit: "km", WithCoord: true, WithDist: true, WithGeoHash: true, Sort: "ASC"}
	}
	add("GeoRadius", func(c cm, x cx) cmd { return c.GeoRadius(x, "geo", 1, 1, query()) })
	add("GeoRadiusByMember", func(c cm, x cx) cmd { return c.GeoRadiusByMember(x, "geo", "1", query()) })
	store := &redis.GeoRadiusQuery{Radius: 200, Unit: "km", Store: "to"}
	add("GeoRadiusStore", func(c cm, x cx) cmd { return c.GeoRadiusStore(x, "geo", 1, 1, store) })
	add("GeoRadiusByMemberStore", func(c cm, x cx) cmd { return c.GeoRadiusByMemberStore(x, "geo", "1", store) })
	search := redis.GeoSearchQuery{Member: "1", Radius: 200, RadiusUnit: "km", Sort: "ASC"}
	add("GeoSearch", func(c cm, x cx) cmd { return c.GeoSearch(x, "geo", &search) })
	add("GeoSearchLocation", func(c cm, x cx) cmd {
		return c.GeoSearchLocation(x, "geo", &redis.GeoSearchLocationQuery{GeoSearchQuery: search, WithCoord: true, WithDist: true, WithHash: true})
	})

	add("XAdd", func(c cm, x cx) cmd {
		return c.XAdd(x, &redis.XAddArgs{Stream: "stream", ID: "9-1", Values: map[string]any{"a": 1}})
	})
	add("XGroupCreate", func(c cm, x cx) cmd { return c.XGroupCreate(x, "stream", "g", "0") })
	add("XGroupCreateMkStream", func(c cm, x cx) cmd { return c.XGroupCreateMkStream(x, "made", "g", "$") })
	claim := &redis.XAutoClaimArgs{Stream: "stream", Group: "1", Consumer: "2", Start: "0"}
	add("XAutoClaim", func(c cm, x cx) cmd { return c.XAutoClaim(x, claim) })
	add("XAutoClaimJustID", func(c cm, x cx) cmd { return c.XAutoClaimJustID(x, claim) })
	add("XClaim", func(c cm, x cx) cmd {
		return c.XClaim(x, &redis.XClaimArgs{Stream: "stream", Group: "1", Consumer: "2", Messages: []string{"1-1"}})
	})

	keys := redis.ZStore{Keys: []string{"zset", "geo"}, Weights: []float64{2, 0}, Aggregate: "MAX"}
	add("ZInter", func(c cm, x cx) cmd { return c.ZInter(x, &keys) })
	add("ZInterWithScores", func(c cm, x cx) cmd { return c.ZInterWithScores(x, &keys) })
	add("ZInterStore", func(c cm, x cx) cmd { return c.ZInterStore(x, "to", &keys) })
	add("ZUnion", func(c cm, x cx) cmd { return c.ZUnion(x, keys) })
	add("ZUnionWithScores", func(c cm, x cx) cmd { return c.ZUnionWithScores(x, keys) })
	add("ZUnionStore", func(c cm, x cx) cmd { return c.ZUnionStore(x, "to", &keys) })
	add("ZAddArgsIncr", func(c cm, x cx) cmd {
		return c.ZAddArgsIncr(x, "zset", redis.ZAddArgs{XX: true, Members: []redis.Z{{Score: 2.25, Member: "b"}}})
	})
	lex := &redis.ZRangeBy{Min: "-", Max: "(d", Count: 3}
	add("ZRangeByLex", func(c cm, x cx) cmd { return c.ZRangeByLex(x, "zset", lex) })
	add("ZRevRangeByLex", func(c cm, x cx) cmd { return c.ZRevRangeByLex(x, "zset", lex) })
	add("ZLexCount", func(c cm, x cx) cmd { return c.ZLexCount(x, "zset", "-", "+") })
	add("ZRemRangeByLex", func(c cm, x cx) cmd { return c.ZRemRangeByLex(x, "zset", "[b", "[c") })
	add("ZPopMin", func(c cm, x cx) cmd { return c.ZPopMin(x, "zset", 2) })
	add("ZPopMax", func(c cm, x cx) cmd { return c.ZPopMax(x, "zset") })

	add("Restore", func(c cm, x cx) cmd { return c.Restore(x, "new", 0, c.Dump(x, "list").Val()) })
	then("RestoreReplace", func(c cm, x cx) cmd { return c.RestoreReplace(x, "text", time.Hour, c.Dump(x, "zset").Val()) })
	then("LRange", func(c cm, x cx) cmd { return c.LRange(x, "new", 0, -1) })
	add("BitCount", func(c cm, x cx) cmd { return c.BitCount(x, "text", &redis.BitCount{Start: 0, End: -1}) })
	add("MemoryUsage", func(c cm, x cx) cmd { return c.MemoryUsage(x, "text", 2) })
	add("GetToBuffer", func(c cm, x cx) cmd { return c.GetToBuffer(x, "text", make([]byte, 64)) })
	add("Set", func(c cm, x cx) cmd { return c.Set(x, "bad", struct{}{}, 0) })
	return cases
}
