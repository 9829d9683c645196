package probe

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server reads a Redis server's counters over a connection of its own.
type Server struct {
	client *redis.Client
}

// NewServer for the server at addr.
func NewServer(addr string) *Server {
	return &Server{redis.NewClient(&redis.Options{Addr: addr, PoolSize: 1})}
}

// Close the connection.
func (s *Server) Close() error { return s.client.Close() }

// Counters of the server.
type Counters struct {
	// Reads of client sockets. A client that writes a batch at once causes one, so
	// executed commands divided by reads are the commands per round trip.
	Reads uint64
	// Calls of GET and SET, by which the client's own count is checked.
	Calls uint64
	// CPU time of the server.
	CPU time.Duration
}

// Read the counters.
func (s *Server) Read(ctx context.Context) (Counters, error) {
	text, err := s.client.Info(ctx, "all").Result()
	if err != nil {
		return Counters{}, fmt.Errorf("server counters: %w", err)
	}
	return parse(text), nil
}

// Sub is what happened between an earlier reading and c, without the reading
// itself.
func (c Counters) Sub(earlier Counters) Counters {
	reads := c.Reads - earlier.Reads
	if reads > 0 {
		reads--
	}
	return Counters{reads, c.Calls - earlier.Calls, c.CPU - earlier.CPU}
}

// Version of the server, such as "7.0.15".
func (s *Server) Version(ctx context.Context) (string, error) {
	text, err := s.client.Info(ctx, "server").Result()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, "redis_version:"); ok {
			return strings.TrimSpace(v), nil
		}
	}
	return "", nil
}

// Fill writes value under all keys, so that a GET always finds one.
func (s *Server) Fill(ctx context.Context, keys []string, value string) error {
	// Bounded in bytes: one pipeline of 64 MB would have to fit the client's memory.
	step := max(1, min(1000, (4<<20)/max(len(value), 1)))
	for len(keys) > 0 {
		n := min(step, len(keys))
		pipe := s.client.Pipeline()
		for _, k := range keys[:n] {
			pipe.Set(ctx, k, value, 0)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return fmt.Errorf("fill the server: %w", err)
		}
		keys = keys[n:]
	}
	return nil
}

func parse(text string) (c Counters) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "total_reads_processed":
			c.Reads, _ = strconv.ParseUint(value, 10, 64)
		case "used_cpu_user", "used_cpu_sys":
			s, _ := strconv.ParseFloat(value, 64)
			c.CPU += time.Duration(s * float64(time.Second))
		case "cmdstat_get", "cmdstat_set":
			calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
			n, _ := strconv.ParseUint(calls, 10, 64)
			c.Calls += n
		}
	}
	return c
}
