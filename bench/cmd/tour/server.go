package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// server is the Redis that the tour uses.
type server struct {
	options  *redis.Options
	short    string // its name and version
	whence   string // how we came by it
	own      bool   // started by us: nobody else uses it
	embedded bool   // miniredis, within this process
	close    func()
}

func (s *server) long() string { return s.short + ", " + s.whence }

// client makes a new client, as a user would: go-redis's own defaults.
func (s *server) client() *redis.Client {
	o := *s.options // NewClient keeps and completes the options it is given
	return redis.NewClient(&o)
}

// sweep deletes the tour's keys. It has a time limit of its own, since the tour's context may have ended.
func (s *server) sweep(keys *keyspace) error {
	if s.own {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	rdb := s.client()
	defer rdb.Close()
	return keys.delete(ctx, rdb)
}

// findServer takes the Redis that was named; without one it starts redis-server, installs it first if need be and
// possible, or as a last resort uses miniredis.
func findServer(ctx context.Context, cfg config, s *screen) (*server, error) {
	if cfg.server != nil {
		return useServer(ctx, cfg)
	}
	srv, err := startServer(ctx)
	if !errors.Is(err, redistest.ErrNoServer) {
		return srv, err
	}
	why := missingServer(cfg)
	if why == "" {
		s.note("redis-server is not installed: installing the Debian package, at most " + installTimeout.String() + " ...")
		if err := installServer(ctx); err == nil {
			return startServer(ctx)
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		} else {
			why = "redis-server is not installed, and installing it failed: " + err.Error()
		}
	}
	s.note(why + ".")
	s.note("An embedded miniredis stands in: all you see is real, but the rates of Act 2 are miniredis's, not Redis's. " +
		"Install redis-server, or name a Redis in REDIS_ADDR, for those.")
	s.blank()
	return startEmbedded()
}

// missingServer says why redis-server, which was not found, cannot be installed either; "" if it can.
func missingServer(cfg config) string {
	switch {
	case os.Getenv("REDIS_SERVER") != "":
		return "REDIS_SERVER names no program"
	case !cfg.install:
		return "redis-server is not installed"
	case !canInstall():
		return "redis-server is not installed, and cannot be without apt-get and the rights of root"
	}
	return ""
}

func startServer(ctx context.Context) (*server, error) {
	p, err := redistest.Start()
	if err != nil {
		return nil, err
	}
	srv := &server{
		options: &redis.Options{Addr: p.Addr()},
		whence:  "started for this tour on " + p.Addr(),
		own:     true,
		close:   func() { _ = p.Close() },
	}
	srv.short = "redis-server " + version(ctx, srv)
	return srv, nil
}

func startEmbedded() (*server, error) {
	m, err := miniredis.Run()
	if err != nil {
		return nil, fmt.Errorf("miniredis: %w", err)
	}
	return &server{
		options:  &redis.Options{Addr: m.Addr()},
		short:    "miniredis",
		whence:   "embedded in this program, on " + m.Addr(),
		own:      true,
		embedded: true,
		close:    m.Close,
	}, nil
}

// info reads fields of INFO; those that the server lacks are missing from the map.
func info(ctx context.Context, rdb *redis.Client, section string) (map[string]string, error) {
	text, err := rdb.Info(ctx, section).Result()
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

func version(ctx context.Context, srv *server) string {
	rdb := srv.client()
	defer rdb.Close()
	fields, err := info(ctx, rdb, "server")
	if err != nil || fields["redis_version"] == "" {
		return "of unknown version"
	}
	return fields["redis_version"]
}

func aboutClient() string {
	return "go-redis " + redis.Version() + ", " + runtime.Version() + ", " +
		plural(runtime.GOMAXPROCS(0), "CPU")
}
