package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// stop ends the nodes on the ports, if they are a cluster that this command started.
func stop(ctx context.Context, ports []int, out io.Writer) error {
	ended := 0
	for _, p := range ports {
		switch was, err := stopNode(ctx, address(p)); {
		case err != nil:
			return err
		case was:
			ended++
		}
	}
	if ended == 0 {
		return fmt.Errorf("no cluster runs on ports %d to %d", ports[0], ports[len(ports)-1])
	}
	fmt.Fprintf(out, "%d nodes ended\n", ended)
	return nil
}

// stopNode reports whether there was a node of ours.
func stopNode(ctx context.Context, addr string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1})
	defer rdb.Close()
	conf, err := rdb.ConfigGet(ctx, "dir").Result()
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("node at %s: %w", addr, err)
	}
	// Somebody else's server is not ours to end.
	if !strings.HasPrefix(filepath.Base(conf["dir"]), "redistest-") {
		return false, fmt.Errorf("the server at %s was not started by this command: its directory is %s", addr, conf["dir"])
	}
	if err := rdb.ShutdownNoSave(ctx).Err(); err != nil {
		return false, fmt.Errorf("shut down %s: %w", addr, err)
	}
	return true, nil
}
