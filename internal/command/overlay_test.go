package command

import "testing"

// TestOverlayAgreesWithServer: nothing the server calls a write may be a read,
// and only writes can be idempotent writes.
func TestOverlayAgreesWithServer(t *testing.T) {
	for _, f := range serverFacts {
		i := Lookup(f.name)
		if f.write && i.Has(ReadOnly) {
			t.Errorf("%s writes, says the server", f.name)
		}
		if !f.write && i.Has(Idempotent) {
			t.Errorf("%s does not write, says the server", f.name)
		}
	}
}

// TestOverlayNamesAreReal: a misspelt name in overlay.go would be a new command.
func TestOverlayNamesAreReal(t *testing.T) {
	server := map[string]bool{"waitaof": true} // Redis 7.2
	for _, f := range serverFacts {
		server[f.name] = true
	}
	for _, i := range table {
		fromOverlay := false
		for _, g := range overlay {
			for _, n := range splitNames(g) {
				fromOverlay = fromOverlay || n == i.Name
			}
		}
		if fromOverlay && !server[i.Name] {
			t.Errorf("overlay.go names %q, which the server does not have", i.Name)
		}
	}
	for name := range forms {
		found := false
		for _, typ := range Lookup(name.name).Types {
			found = found || typ == name.typ
		}
		if !found {
			t.Errorf("forms.go has %s with %s, which is no pair", name.name, name.typ)
		}
	}
}

// TestFlags holds every flag against what Redis documents.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		flag    Flag
		yes, no []string
	}{
		{ReadOnly, []string{"get", "mget", "hgetall", "zrange", "xread", "exists", "ttl", "touch", "scan", "randomkey", "dump",
			"ping", "info", "time", "object", "xinfo", "memory", "sort_ro", "eval_ro", "httl", "json.get", "ts.range"},
			[]string{"set", "getex", "getdel", "getset", "sort", "bitfield", "georadius", "georadiusbymember", "spop", "xreadgroup",
				"eval", "fcall", "publish", "client", "config", "script", "cluster", "xgroup", "hexpire", "json.set", "ft.aggregate", "wait", "hgetex"}},
		{Idempotent, []string{"set", "setex", "psetex", "mset", "hmset", "lset", "setrange", "expire", "pexpireat"},
			[]string{"incr", "del", "unlink", "sadd", "rename", "setnx", "msetnx", "setbit", "getset", "append", "hset", "persist",
				"lpush", "rpop", "zadd", "xadd", "publish", "flushall", "eval", "hincrby", "pfadd"}},
		{Blocking, []string{"blpop", "brpop", "brpoplpush", "blmove", "blmpop", "bzpopmin", "bzpopmax", "bzmpop", "xread", "xreadgroup",
			"wait", "waitaof", "blmovem", "ts.read"}, []string{"get", "lpop", "lmove", "xrange"}},
		{Connection, []string{"select", "auth", "hello", "client", "subscribe", "psubscribe", "ssubscribe", "unsubscribe", "monitor",
			"readonly", "readwrite", "asking", "reset", "quit", "himport", "wait", "waitaof", "sync", "psync"},
			[]string{"get", "publish", "ping", "multi"}},
		{Transaction, []string{"multi", "exec", "discard", "watch", "unwatch"}, []string{"get", "eval"}},
		{FanOut, []string{"dbsize", "keys", "flushall", "flushdb", "script", "function", "wait", "randomkey", "info", "ping"},
			[]string{"get", "mget", "scan", "publish", "time"}},
		{MultiShard, []string{"mget", "mset", "msetnx", "del", "exists", "touch", "unlink"}, []string{"get", "set", "hmget", "sunion", "pfcount"}},
		{Script, []string{"eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro"}, []string{"script", "function", "get"}},
		{Module, []string{"json.get", "ft.search", "ts.add", "bf.add", "cf.add", "cms.query", "topk.add", "tdigest.add", "vadd", "vsim"},
			[]string{"get", "module", "arget"}},
		{Admin, []string{"shutdown", "debug", "save", "bgsave", "bgrewriteaof", "migrate", "failover", "replicaof", "slaveof", "cluster",
			"sync", "psync", "module", "config", "acl", "swapdb", "monitor", "latency", "slowlog", "hotkeys", "replconf", "pfselftest"},
			[]string{"get", "flushall", "info", "memory", "role"}},
	} {
		for _, n := range c.yes {
			if i := Lookup(n); i == nil || !i.Has(c.flag|Known) {
				t.Errorf("%s lacks flag %b", n, c.flag)
			}
		}
		for _, n := range c.no {
			if i := Lookup(n); i == nil || i.Has(c.flag) {
				t.Errorf("%s must not have flag %b", n, c.flag)
			}
		}
	}
}

func TestFirstKey(t *testing.T) {
	for name, want := range map[string]int8{
		"get": 1, "mset": 1, "bitop": 2, "object": 2, "xgroup": 2, "zunionstore": 1,
		"ping": 0, "eval": 0, "xread": 0, "zunion": 2, "blmpop": 3, "memory": 0, "migrate": 0, "json.get": 1, "hexpire": 1, "msetex": 2,
	} {
		if got := Lookup(name).FirstKey; got != want {
			t.Errorf("%s: first key %d, want %d", name, got, want)
		}
	}
}
