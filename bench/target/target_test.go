package target

import (
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestMain(m *testing.M) {
	ServeLink()
	os.Exit(m.Run())
}

func TestHostPort(t *testing.T) {
	for in, want := range map[string]string{
		"example":                      "example:6379",
		"example:7000":                 "example:7000",
		"https://example.com":          "example.com:6379",
		"redis://user:pw@example:7/3":  "example:7",
		"[::1]":                        "[::1]:6379",
		"[::1]:7000":                   "[::1]:7000",
		"rediss://example.com:6380/0?": "example.com:6380",
	} {
		if got, err := HostPort(in); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", in, got, err, want)
		}
	}
	if _, err := HostPort("https://"); err == nil {
		t.Error("an address without a host was accepted")
	}
}

func TestOwnServerAndLink(t *testing.T) {
	t.Setenv("REDIS_HOST", "")
	t.Setenv("REDIS_ADDR", "")
	r, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.Own() {
		t.Fatal("not our own server")
	}
	const delay = 20 * time.Millisecond
	addr, err := r.Via(delay)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := r.Via(delay); again != addr {
		t.Error("a second link for the same delay")
	}
	c := redis.NewClient(&redis.Options{Addr: addr})
	defer c.Close()
	c.Ping(t.Context())
	start := time.Now()
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < delay {
		t.Errorf("a round trip took %v on a link of %v", d, delay)
	}
}
