// Package autopipe is middleware for github.com/redis/go-redis/v9: the single commands that many goroutines send
// through one client travel in shared pipelines, without pipeline code.
//
//	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
//	rdb.AddHook(autopipe.New())
//	rdb.Set(ctx, "key", "value", 0) // as before; concurrent callers share round trips
//
// # What stays the same
//
// A call still blocks until its own reply is there, returns the same command with the same value and error, and
// one caller's error, panic or ended context is nobody else's. Commands that must not share a pipeline go to the
// server directly: blocking ones, those that read or change the state of their connection, transactions, and what
// go-redis sends to several nodes. Explicit pipelines pass unchanged.
//
// # What is different
//
// Commands of one client may reach the server in another order than their calls began, if the calls overlap; a
// goroutine's own commands never do, since each waits for its reply. A write whose connection breaks before the
// reply returns *UncertainError instead of being sent twice (see RetryPolicy). Clients made by WithTimeout carry
// no hooks in go-redis v9 and so bypass autopipe.
//
// # More
//
// Submit and Window send commands whose results are read later. Attach gives each node of a cluster or ring its own lane.
// Direct sends one call around the batches, and WithMergePipelines lets explicit pipelines share them. Stats and the
// observers of package telemetry tell what became of every command.
//
// # How it works
//
// Each hook chain that go-redis builds has a lane: a queue of commands and a number of places for batches in
// flight. A command that finds a place free and nobody about leaves at once, on its own goroutine. Otherwise it
// queues, and the next batch takes it along. Batches are run by goroutines that exist only while there is
// something to send, so there is nothing to close. DESIGN.md follows one command through the code.
package autopipe
