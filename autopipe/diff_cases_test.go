package autopipe_test

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

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
