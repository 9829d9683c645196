package command

// overlay is what COMMAND does not say, or says only of sub-commands.
var overlay = []group{
	// They ask the server about itself or echo; it just gives them no
	// readonly flag.
	{ReadOnly, `ping echo time lastsave role info command pubsub`},

	// Containers whose sub-commands only read. MEMORY PURGE gives memory back
	// to the system and changes no data.
	{ReadOnly, `object xinfo memory`},

	// Writes that run twice like once; replay.go looks at the arguments of
	// those that do so only in some forms.
	{Idempotent, `set setex psetex mset hmset lset setrange ltrim pfmerge xsetid`},

	// Expiry: the reply is the same; a relative time to live counts from the
	// later run, milliseconds on. That is no other state than a slower network
	// would have left.
	{Idempotent, `expire pexpire expireat pexpireat getex`},

	// A result is stored over whatever stood there; the same again unless the
	// destination is also a source.
	{Idempotent, `sdiffstore sinterstore sunionstore zdiffstore zinterstore zunionstore
		zrangestore geosearchstore bitop`},

	// Only with REPLACE: without, the second run finds the first one's key.
	{Idempotent, `copy restore`},

	// Write by flag but not in every form: no STORE, no SET or INCRBY.
	{Idempotent, `sort georadius georadiusbymember bitfield`},

	// State of the connection.
	{Connection, `select auth hello client reset quit readonly readwrite asking
		subscribe unsubscribe psubscribe punsubscribe ssubscribe sunsubscribe
		monitor sync psync replconf`},

	// They wait for the writes of their own connection, so on another one
	// they mean nothing.
	{Connection | Blocking, `wait waitaof`},

	{Transaction, `multi exec discard watch unwatch`},

	{Script, `eval eval_ro evalsha evalsha_ro fcall fcall_ro`},

	// On a cluster they concern every node; the policy stands at their
	// sub-commands.
	{FanOut, `script function`},

	// Containers with at least one sub-command that administers the server:
	// the stricter fact for all of it.
	{Admin, `acl cluster config latency module slowlog`},

	// MIGRATE holds the server while it talks to another one. SWAPDB changes
	// the data under every other connection. RESTORE-ASKING is sent by nodes.
	{Admin, `migrate swapdb restore-asking`},
}
