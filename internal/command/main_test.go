package command_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

// serverAddr is a redis-server that TestMain runs for all tests.
var serverAddr string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	serverAddr = l.Addr().String()
	_, port, _ := net.SplitHostPort(serverAddr)
	l.Close()
	dir, err := os.MkdirTemp("", "command")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	srv := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir)
	if err := srv.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "these tests need a real server: apt-get install -y redis-server:", err)
		return 1
	}
	defer srv.Wait()
	defer srv.Process.Kill()
	rdb := redis.NewClient(&redis.Options{Addr: serverAddr})
	defer rdb.Close()
	for range 100 {
		if rdb.Ping(ctx).Err() == nil {
			return m.Run()
		}
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, "redis-server did not answer")
	return 1
}

func newClient(t *testing.T) *redis.Client {
	rdb := redis.NewClient(&redis.Options{Addr: serverAddr})
	t.Cleanup(func() { rdb.Close() })
	if err := rdb.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	return rdb
}
