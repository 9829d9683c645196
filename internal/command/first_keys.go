package command

// firstKeys gives positions that COMMAND does not: of commands it calls
// movable though their first key stands still, of containers (their HELP has
// no key), and of newer commands. It also takes back MIGRATE's, which may be
// empty, with the keys at the end.
var firstKeys = []struct {
	pos   int8
	names string
}{
	{0, `migrate`},
	{2, `object xinfo xgroup`},
	{2, `lmpop zmpop sintercard zintercard zunion zinter zdiff sdiffcard sunioncard msetex ts.nrange ts.nrevrange`},
	{3, `blmpop bzmpop`},
	{1, `httl hpttl hexpiretime hpexpiretime hexpire hpexpire hexpireat hpexpireat hpersist hgetdel hgetex hsetex
		digest delex increx lmovem blmovem xackdel xdelex xcfgset xnack`},
	{1, `arcount ardel ardelrange arget argetrange argrep arinfo arinsert arlastitems arlen armget armset arnext
		arop arring arscan arseek arset`},
	{1, `vadd vcard vdim vemb vgetattr vinfo vismember vlinks vrandmember vrange vrem vsetattr vsim`},
	{1, `json.arrappend json.arrindex json.arrinsert json.arrlen json.arrpop json.arrtrim json.clear json.del
		json.forget json.get json.merge json.mget json.mset json.numincrby json.nummultby json.objkeys json.objlen
		json.resp json.set json.strappend json.strlen json.toggle json.type`},
	{1, `bf.add bf.card bf.exists bf.info bf.insert bf.loadchunk bf.madd bf.mexists bf.reserve bf.scandump
		cf.add cf.addnx cf.count cf.del cf.exists cf.info cf.insert cf.insertnx cf.loadchunk cf.mexists cf.reserve cf.scandump
		cms.incrby cms.info cms.initbydim cms.initbyprob cms.merge cms.query
		topk.add topk.count topk.incrby topk.info topk.list topk.query topk.reserve
		tdigest.add tdigest.byrank tdigest.byrevrank tdigest.cdf tdigest.create tdigest.info tdigest.max tdigest.merge
		tdigest.min tdigest.quantile tdigest.rank tdigest.reset tdigest.revrank tdigest.trimmed_mean`},
	{1, `ts.add ts.alter ts.create ts.createrule ts.decrby ts.del ts.deleterule ts.get ts.incrby ts.info ts.madd
		ts.range ts.read ts.revrange`},
	{1, `ft.sugadd ft.sugdel ft.sugget ft.suglen`},
}
