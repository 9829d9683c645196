// Package profile labels CPU and goroutine profiles: what runs a batch carries autopipe_stage (lone or batch),
// autopipe_pipe (autopipe.WithName) and autopipe_reason (why the batch left), so that a profile tells what autopipe's
// work costs.
//
//	rdb.AddHook(autopipe.New(autopipe.WithObserver(profile.New())))
//
//	go tool pprof -tagfocus=autopipe_stage=batch cpu.pprof
//
// Runner goroutines start and end with no labels. A lone command runs on its caller's own goroutine and gives the caller's
// labels back. Labels that the goroutine has and the command's context has not (set around a call that was given another
// context) could not be given back without allocating, so they stay in place, and that command is not labelled.
//
// Measured on 2 cores, with others at work on them: 17 ns for a batch or a lone command, 30 ns for a lone command of a
// caller with labels. No allocations: the labels of every reason are made once for each hook.
package profile
