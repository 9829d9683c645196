package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"
)

// keyspace hands out every key that the tour writes and remembers them, so that they can be deleted by name: nobody's
// other keys are looked at.
type keyspace struct {
	prefix string

	mu   sync.Mutex
	used map[string]bool
}

// newKeyspace has a prefix of its own, so that two tours on one Redis do not meet.
func newKeyspace() *keyspace {
	id := strconv.FormatUint(uint64(rand.Uint32()), 36)
	return &keyspace{prefix: "autopipe:tour:" + id + ":", used: map[string]bool{}}
}

// key makes a name out of the parts, the same for the same parts.
func (k *keyspace) key(parts ...any) string {
	name := k.prefix
	for i, p := range parts {
		if i > 0 {
			name += ":"
		}
		name += fmt.Sprint(p)
	}
	k.mu.Lock()
	k.used[name] = true
	k.mu.Unlock()
	return name
}

// delete removes all keys handed out so far.
func (k *keyspace) delete(ctx context.Context, rdb *redis.Client) error {
	k.mu.Lock()
	names := make([]string, 0, len(k.used))
	for name := range k.used {
		names = append(names, name)
	}
	k.mu.Unlock()
	for some := range slices.Chunk(names, 500) { // short commands: they hold up nobody else's
		if err := rdb.Del(ctx, some...).Err(); err != nil {
			return err
		}
	}
	return nil
}
