package demo

import (
	"context"
	"time"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// fault does something bad to a proxy. It may take a while.
type fault func(ctx context.Context, p *redistest.Proxy)

// answer has the proxy answer the next matching requests in Redis's name. They are many callers' first tries: by the time
// that one of them tries again, all are used up.
func answer(match, reply string) fault {
	return func(_ context.Context, p *redistest.Proxy) { p.FakeReply(match, reply+"\r\n", 20) }
}

// lose has the proxy cut the connections that carry the next matching requests: after Redis ran them, or before.
func lose(match string, ran bool) fault {
	return func(_ context.Context, p *redistest.Proxy) {
		for range 10 {
			if ran {
				p.CutAfterRequest(match)
			} else {
				p.CutBeforeRequest(match)
			}
		}
	}
}

// refuse has the proxy refuse connections, after those that there were are cut.
func refuse(t time.Duration) fault {
	return func(ctx context.Context, p *redistest.Proxy) {
		if p.Refuse(true) != nil {
			return
		}
		p.CutAll()
		sleep(ctx, t)
		// The port was ours a moment ago. Should somebody have taken it, the pipe stays down until the next round tries again.
		_ = p.Refuse(false)
	}
}

// orderFaults happen to the pipe "orders". The keys are those of mix.go.
var orderFaults = []fault{
	lose("incr demo:orders:count", true), // uncertain
	lose("get demo:orders", true),        // transport: a read is sent again
	answer("get demo:orders", "-LOADING Redis is loading the dataset in memory"),
	answer("set demo:orders", "-READONLY You can't write against a read only replica."),
	answer("get demo:orders", "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
	answer("get demo:orders", "-CLUSTERDOWN The cluster is down"),
	answer("get demo:orders", "-TRYAGAIN Multiple keys request during rehashing of slot"),
	answer("set demo:orders", "-NOREPLICAS Not enough good replicas to write."),
	answer("get demo:orders", "-ERR max number of clients reached"),
	refuse(150 * time.Millisecond), // retries after failed dials
	lose("set demo:orders", false),
	refuse(600 * time.Millisecond), // more than the retries last: transport_error
}

// nodeFaults happen to the first node of the pipe "sessions": its slots move to the other node.
var nodeFaults = []fault{
	answer("get demo:sessions", "-MOVED 1 "+nodeNames[1]),
	answer("get demo:sessions", "-ASK 1 "+nodeNames[1]),
}

// faults goes through all faults once, spread over the phase.
func (d *Demo) faults(ctx context.Context) {
	end, _ := ctx.Deadline()
	step := time.Until(end) / time.Duration(len(orderFaults)+1)
	defer d.heal()
	for i, f := range orderFaults {
		next := time.Now().Add(step)
		d.heal()
		nodeFaults[i%len(nodeFaults)](ctx, d.nodes[0])
		f(ctx, d.orders)
		if !sleep(ctx, max(time.Until(next), step/4)) {
			return
		}
	}
	<-ctx.Done()
}

// heal ends all faults.
func (d *Demo) heal() {
	_ = d.orders.Refuse(false)
	for _, p := range append(d.nodes[:], d.orders) {
		p.HoldReplies(false)
		p.Clear()
	}
	// A node that is asked after an ASK gets ASKING first, which a Redis without a cluster does not know.
	d.nodes[1].FakeReply("asking", "+OK\r\n", 0)
}

// slow lets replies through only now and then, on the way to "orders" and to one node of "sessions".
func (d *Demo) slow(ctx context.Context) {
	defer d.heal()
	for ctx.Err() == nil {
		d.orders.HoldReplies(true)
		d.nodes[1].HoldReplies(true)
		sleep(ctx, 20*time.Millisecond)
		d.orders.HoldReplies(false)
		d.nodes[1].HoldReplies(false)
		sleep(ctx, 3*time.Millisecond)
	}
}
