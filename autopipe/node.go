package autopipe

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/hook"
	"github.com/goautopipe/redis-autopipe/telemetry"
)

// nodeHook is the hook on one node's client.
type nodeHook struct {
	*Hook
	node string
}

func (n *nodeHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return n.process(next, n.node, true)
}

// upkeep reports whether cmd is how a cluster client or ring learns its topology and watches its nodes. It asks its
// nodes' clients, so on their lanes these commands are not the user's traffic, like the set-up of connections.
func upkeep(cmd redis.Cmder) bool {
	switch cmd.Name() {
	case "command":
		return true
	case "ping":
		return hook.Watching()
	case "cluster":
		args := cmd.Args()
		if len(args) < 2 {
			return false
		}
		sub, _ := args[1].(string)
		return sub == "slots" || sub == "shards"
	}
	return false
}

// asked sends a command to the node that ASK named: a pipeline of ASKING and the command, which go-redis makes when a
// slot is being moved. It follows the rules for a command that travels alone, and is counted as one.
func (l *lane) asked(ctx context.Context, next redis.ProcessPipelineHook, cmds []redis.Cmder) error {
	_, info := l.classify(cmds[1])
	c, err := l.h.newCall(ctx, cmds[1], info, 0, 0, false)
	if err != nil {
		return err
	}
	c.attempt = 1
	outcome := telemetry.OutcomeTransportError // until next returns: it may panic
	begin := time.Now()
	defer func() {
		if c.passed {
			l.h.count.retries[c.cause].Add(1)
		} else {
			l.h.count.outcome[outcome].Add(1)
		}
		l.h.count.batch(telemetry.FlushIdle, 1, 0)
		if l.h.observed {
			took := time.Since(begin)
			l.h.events.batchEnd(ctx, &telemetry.Batch{
				Pipe: l.h.cfg.name, Node: l.node, Reason: telemetry.FlushIdle, Size: 1, Cut: begin, RoundTrip: took,
				Commands: []telemetry.Command{{
					Name: cmds[1].Name(), Context: ctx, Attempt: 1, Start: begin, Duration: took,
					Outcome: outcome, Again: c.passed, Err: c.err,
				}},
			})
			if c.passed {
				l.tellRetry(&c.call, 0)
			}
		}
	}()
	err = next(ctx, []redis.Cmder{cmds[0], &c.call})
	if !c.replied && c.err == nil {
		c.err = err
	}
	l.decide(&c.call, true)
	outcome = c.outcome
	cmds[1].SetErr(c.err)
	return c.err
}
