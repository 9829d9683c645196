package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// A fact is what COMMAND says of one command, reduced to what the table keeps.
type fact struct {
	name     string
	flags    []string // names of command.Flag constants, without Known
	write    bool
	firstKey int8
}

// startServer gives the address of a server to ask: REDIS_ADDR, or a
// redis-server of our own that stop ends.
func startServer() (addr string, stop func(), err error) {
	if addr := os.Getenv("REDIS_ADDR"); addr != "" {
		return addr, func() {}, nil
	}
	srv, err := redistest.Start()
	if err != nil {
		return "", nil, err
	}
	return srv.Addr(), func() { _ = srv.Close() }, nil
}

var versionLine = regexp.MustCompile(`(?m)^redis_version:(\S+)`)

// askServer returns the facts of every command the server has, the names of
// the container commands, and the server's version.
func askServer(addr string) (facts []fact, containers map[string]bool, version string, err error) {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()

	info, err := rdb.Info(ctx, "server").Result()
	if err != nil {
		return nil, nil, "", err
	}
	if m := versionLine.FindStringSubmatch(info); m != nil {
		version = m[1]
	}

	// The typed Command drops the sub-commands, so read the reply raw.
	rows, err := rdb.Do(ctx, "command").Slice()
	if err != nil {
		return nil, nil, "", err
	}
	containers = map[string]bool{}
	for _, r := range rows {
		row := r.([]any)
		f := fact{name: row[0].(string), firstKey: int8(row[3].(int64))}
		for _, flag := range words(row[2]) {
			switch flag {
			case "readonly":
				f.flags = append(f.flags, "ReadOnly")
			case "blocking":
				f.flags = append(f.flags, "Blocking")
			case "admin":
				f.flags = append(f.flags, "Admin")
			case "module":
				f.flags = append(f.flags, "Module")
			case "write":
				f.write = true
			}
		}
		for _, tip := range words(row[7]) {
			switch strings.TrimPrefix(tip, "request_policy:") {
			case "all_nodes", "all_shards":
				f.flags = append(f.flags, "FanOut")
			case "multi_shard":
				f.flags = append(f.flags, "MultiShard")
			}
		}
		if subs, _ := row[9].([]any); len(subs) > 0 {
			containers[f.name] = true
		}
		facts = append(facts, f)
	}
	return facts, containers, version, nil
}

// words reads an array of strings.
func words(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, w := range list {
		out = append(out, fmt.Sprint(w))
	}
	return out
}
