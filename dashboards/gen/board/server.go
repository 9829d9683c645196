package board

import (
	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/schema"
)

// varRedis selects redis_exporter's targets, which are others than the applications.
const varRedis = "redis"

var redis = query.Scope{Window: live.Window, Match: []query.Match{{Label: query.LabelInstance, Op: "=~", Value: "$" + varRedis}}}

// server puts what the server sees beside what the client sees.
func server() *schema.Builder {
	vars := append(variables(), choice(varRedis, "Redis", "The servers, by redis_exporter's instance label.", labelValues(names.RedisUp, query.LabelInstance)))
	d := newDashboard("redis", "Redis server", "What the server sees, beside what the client sees. Needs redis_exporter.", vars...)
	serverFigures(d)
	return d.
		WithPanel(lines(about{7, "Commands: client and server", "Commands that the clients count and commands that the server ran. The server's are more by those of " +
			"other clients (of the demo's scenarios too), retries, and HELLO and the like of new connections.", commands, 12, 8},
			q("A", "client", live.SumRate(all, names.Commands)+" + "+live.SumRate(all, names.Pipelined)),
			q("B", "server", redis.SumRate(all, names.RedisCommands)))).
		WithPanel(lines(about{8, "Commands per read", "Commands that the server takes from one read of a socket, beside the clients' commands per round trip. " +
			"They agree when the clients are the server's only ones; large batches take several reads.", count, 12, 8},
			q("A", "server: commands per read", commandsPerRead()),
			q("B", "client: commands per round trip", perRoundTrip(all)))).
		WithPanel(lines(about{9, "Processor time", "Share of one processor that the server uses. Redis runs commands on one: near 100 % it is the bottleneck, " +
			"and larger batches help, since a batch costs one read and one write.", ratio, 6, 8},
			q("A", "user", redis.SumRate(all, names.RedisCPUUser)),
			q("B", "system", redis.SumRate(all, names.RedisCPUSystem)))).
		WithPanel(lines(about{11, "Network", "Bytes that the server receives and sends.", byteRate, 6, 8},
			q("A", "in", redis.SumRate(all, names.RedisNetIn)),
			q("B", "out", redis.SumRate(all, names.RedisNetOut)))).
		WithPanel(figuresRight(lines(about{10, "Time per command", "Mean time that the server spends on a command, the slowest first, without those that watch and set up connections. A slow one holds up its batch.", seconds, 12, 8},
			q("A", "{{cmd}}", timePerCommand())))).
		WithPanel(lines(about{12, "Clients", "Connections to the server, and those blocked in BLPOP and the like.", count, 8, 8},
			q("A", "connected", query.Agg("sum", all, redis.Select(names.RedisClients))),
			q("B", "blocked", query.Agg("sum", all, redis.Select(names.RedisBlocked))))).
		WithPanel(lines(about{13, "New connections", "Connections that the server accepted, and those it refused at maxclients. A high rate means that connections break: see Retries.", perSecond, 8, 8},
			q("A", "accepted", redis.SumRate(all, names.RedisConnections)),
			q("B", "refused", redis.SumRate(all, names.RedisRejected)))).
		WithPanel(lines(about{14, "The clients' pools", "Connections in the clients' pools, and the idle ones. Few batches in flight need few connections. Needs WithPoolStats.", count, 8, 8},
			q("A", "connections", query.Agg("sum", all, live.Select(names.PoolConnections))),
			q("B", "idle", query.Agg("sum", all, live.Select(names.PoolIdle)))))
}

func serverFigures(d *schema.Builder) {
	d.WithPanel(number(about{1, "Servers up", "Servers that redis_exporter reaches, as a share of those it knows.", ratio, 4, 5},
		steps("red", 1.0, "green"), query.Agg("avg", all, redis.Select(names.RedisUp))))
	d.WithPanel(number(about{2, "Commands", "Commands that the servers run, each second.", commands, 4, 5},
		steps("blue"), redis.SumRate(all, names.RedisCommands)))
	d.WithPanel(number(about{3, "Commands per read", "Commands that the servers take from one read of a socket: 1 without pipelines.", count, 4, 5},
		steps("yellow", 1.5, "blue", 4.0, "green"), commandsPerRead()).Decimals(1))
	d.WithPanel(number(about{4, "Clients", "Connections to the servers.", count, 4, 5},
		steps("blue"), query.Agg("sum", all, redis.Select(names.RedisClients))))
	d.WithPanel(number(about{5, "Memory", "Memory that the servers use.", bytes, 4, 5},
		steps("blue"), query.Agg("sum", all, redis.Select(names.RedisMemory))))
	d.WithPanel(number(about{6, "Hit ratio", "Share of key look-ups that found their key.", ratio, 4, 5},
		steps("blue"), query.Div(redis.SumRate(all, names.RedisHits), "("+redis.SumRate(all, names.RedisHits)+" + "+redis.SumRate(all, names.RedisMisses)+")")).Decimals(1))
}

func commandsPerRead() string {
	return query.Div(redis.SumRate(all, names.RedisCommands), redis.SumRate(all, names.RedisReads))
}

func timePerCommand() string {
	cmd := names.RedisCommandCalls.Labels
	return query.Div(redis.SumRate(cmd, names.RedisCommandTime, names.RedisWork), redis.SumRate(cmd, names.RedisCommandCalls, names.RedisWork))
}
