package command

// newer are commands that the server asked for table_gen.go does not have:
// newer than it, or of a module. Without its word, ReadOnly stands only where
// the command plainly reads.
var newer = []group{
	// Redis 7.2 to 8: hash fields with an expiry, extended strings.
	{ReadOnly, `httl hpttl hexpiretime hpexpiretime digest`},
	{Known, `hexpire hpexpire hexpireat hpexpireat hpersist hgetdel hgetex hsetex
		delex increx msetex lmovem xackdel xdelex xcfgset xnack`},
	{ReadOnly, `sdiffcard sunioncard`},
	{Blocking, `blmovem`},

	// Arrays.
	{ReadOnly, `arcount arget argetrange argrep arinfo arlastitems arlen armget arscan`},
	{Known, `ardel ardelrange arinsert armset arnext arop arring arseek arset`},

	// HIMPORT keeps field sets on the connection, and go-redis asserts the
	// types of these commands in a batch: neither sharing nor standing in.
	{Connection | FanOut, `himport`},

	{Admin, `hotkeys sentinel`},

	// Vector sets: a module that Redis 8 carries.
	{Module | ReadOnly, `vcard vdim vemb vgetattr vinfo vismember vlinks vrandmember vrange vsim`},
	{Module, `vadd vrem vsetattr`},

	{ReadOnly, `json.arrindex json.arrlen json.get json.mget json.objkeys json.objlen
		json.resp json.strlen json.type`},
	{Known, `json.arrappend json.arrinsert json.arrpop json.arrtrim json.clear json.debug
		json.del json.forget json.merge json.mset json.numincrby json.nummultby json.set
		json.strappend json.toggle`},

	{ReadOnly, `bf.card bf.exists bf.info bf.mexists bf.scandump
		cf.count cf.exists cf.info cf.mexists cf.scandump
		cms.info cms.query topk.count topk.info topk.list topk.query
		tdigest.byrank tdigest.byrevrank tdigest.cdf tdigest.info tdigest.max tdigest.min
		tdigest.quantile tdigest.rank tdigest.revrank tdigest.trimmed_mean`},
	{Known, `bf.add bf.insert bf.loadchunk bf.madd bf.reserve
		cf.add cf.addnx cf.del cf.insert cf.insertnx cf.loadchunk cf.reserve
		cms.incrby cms.initbydim cms.initbyprob cms.merge
		topk.add topk.incrby topk.reserve
		tdigest.add tdigest.create tdigest.merge tdigest.reset`},

	{ReadOnly, `ts.get ts.info ts.mget ts.mrange ts.mrevrange ts.nrange ts.nrevrange
		ts.queryindex ts.querylabels ts.range ts.revrange`},
	{Known, `ts.add ts.alter ts.create ts.createrule ts.decrby ts.del ts.deleterule
		ts.incrby ts.madd`},
	{Blocking, `ts.read`},

	// FT.AGGREGATE may open a cursor and FT.CURSOR moves it: not read-only.
	// FT.CURSOR is sticky to a node on a cluster.
	{ReadOnly, `ft._list ft.aliaslist ft.dictdump ft.explain ft.explaincli ft.info
		ft.search ft.spellcheck ft.sugget ft.suglen ft.syndump ft.tagvals`},
	{Known, `ft.aggregate ft.aliasadd ft.aliasdel ft.aliasupdate ft.alter ft.config ft.create
		ft.cursor ft.dictadd ft.dictdel ft.drop ft.dropindex ft.hybrid ft.profile
		ft.sugadd ft.sugdel ft.synupdate`},
}
