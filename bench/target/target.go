// Package target finds or starts the Redis that a benchmark talks to, and puts a
// slow link before it on request.
package target

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// Redis is a server to measure against.
type Redis struct {
	addr  string
	own   *redistest.Server
	links map[time.Duration]*link
}

// Open uses the server at addr; without addr the one that REDIS_HOST or REDIS_ADDR
// names; and without these it starts a redis-server of its own, empty and without
// persistence, that ends with Close.
func Open(addr string) (*Redis, error) {
	for _, name := range []string{"REDIS_HOST", "REDIS_ADDR"} {
		if addr == "" {
			addr = os.Getenv(name)
		}
	}
	r := &Redis{links: map[time.Duration]*link{}}
	if addr == "" {
		s, err := redistest.Start()
		if err != nil {
			return nil, fmt.Errorf("no server named (-addr, REDIS_HOST), and none started: %w", err)
		}
		r.own, r.addr = s, s.Addr()
		return r, nil
	}
	addr, err := HostPort(addr)
	if err != nil {
		return nil, err
	}
	r.addr = addr
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer c.Close()
	if err := c.Ping(ctx).Err(); err != nil {
		return nil, fmt.Errorf("redis at the given address: %w", err)
	}
	return r, nil
}

// HostPort reads an address as people write it: host, host:port, or a URL.
func HostPort(s string) (string, error) {
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		if err != nil {
			return "", fmt.Errorf("redis address: %w", err)
		}
		s = u.Host
	}
	if s == "" {
		return "", fmt.Errorf("redis address: no host")
	}
	if host, port, err := net.SplitHostPort(s); err == nil {
		if port == "" {
			port = "6379"
		}
		return net.JoinHostPort(host, port), nil
	}
	return net.JoinHostPort(strings.Trim(s, "[]"), "6379"), nil
}

// Addr of the server, without any delay.
func (r *Redis) Addr() string { return r.addr }

// Own reports whether Open started the server, so that nobody else uses it.
func (r *Redis) Own() bool { return r.own != nil }

// Via is the address behind a link whose round trip takes delay longer. Links are
// made once and stay until Close. Zero is the server itself.
func (r *Redis) Via(delay time.Duration) (string, error) {
	if delay <= 0 {
		return r.addr, nil
	}
	l := r.links[delay]
	if l == nil {
		var err error
		if l, err = startLink(r.addr, delay); err != nil {
			return "", err
		}
		r.links[delay] = l
	}
	return l.addr, nil
}

// Close ends the links, and the server if it is ours.
func (r *Redis) Close() error {
	for _, l := range r.links {
		l.close()
	}
	clear(r.links)
	if r.own != nil {
		return r.own.Close()
	}
	return nil
}
