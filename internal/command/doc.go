// Package command is the table of facts that decide how a Redis command may
// travel: whether it may share a pipeline, whether it may be sent again, and
// which go-redis types read its reply.
//
// The facts come from three places. A Redis server's own COMMAND reply and the
// (command, reply type) pairs of go-redis's typed methods are written to
// table_gen.go by internal/gen/command. What neither tells is kept by hand in
// overlay.go (any server) and overlay_newer.go (commands newer than the server
// that was asked, and modules). build.go joins the three.
//
// What follows is what go-redis 9.23 does with several nodes, and so what the
// flags FanOut and MultiShard mean.
//
// # Single commands on a ClusterClient (osscluster.go, osscluster_router.go)
//
// ClusterClient.process asks the client's policy resolver how to route. The
// default resolver (command_policy_resolver.go) is a small static table of
// FT. commands; everything else has no policy and goes to one node. So by
// default DBSIZE by Do asks one node, and MGET over several slots gets
// CROSSSLOT. After
//
//	c.SetCommandInfoResolver(c.NewDynamicResolver())
//
// the request_policy tips of the server's COMMAND count: all_nodes and
// all_shards run everywhere and are merged (FanOut), multi_shard is split by
// slot and merged (MultiShard). Tips stand at sub-command level for SCRIPT and
// FUNCTION, where the resolver does not look.
//
// Four typed methods fan out whatever the resolver (osscluster_commands.go):
// DBSize, ScriptLoad, ScriptFlush, ScriptExists. They call withProcessHook with
// a next function of their own; a hook must call that very function. Three
// HIMPORT methods fan out on ClusterClient and Ring (himport_cluster.go).
//
// # Pipelines on a ClusterClient
//
// mapCmdsByNode neither splits nor fans out: one FanOut or MultiShard command
// with a policy fails the whole pipeline, every command of it, before anything
// is sent. Without a policy it does what the single path does. Since a hook
// cannot see the resolver, these commands must go direct on a cluster.
//
// They must also go as the caller's own command: the merged result is written
// by a switch on the concrete type (setCommandValue), which silently skips a
// stand-in.
//
// With ClusterOptions.ReadOnly a pipeline is sent to replicas only if all its
// commands read (cmdsAreReadOnly): one write in a batch takes the reads beside
// it to the masters.
//
// # Ring (ring.go)
//
// Ring fans out nothing but HIMPORT. A single command without a key goes to a
// random shard; in a pipeline its name is hashed in place of a key, so it
// always meets the same shard, and EVAL and EVALSHA without keys meet
// different ones. Ring pipelines are not retried (generalProcessPipeline).
package command
