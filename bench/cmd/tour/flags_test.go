package main

import (
	"strings"
	"testing"
	"time"
)

func TestFlagsThatMakeNoSense(t *testing.T) {
	for _, args := range [][]string{
		{"-duration", "0"}, {"-duration", "-3s"}, {"-duration", "5"}, {"-duration", "11m"},
		{"-goroutines", "0"}, {"-goroutines", "many"}, {"-goroutines", "100001"},
		{"-addr", "redis://:secret@host:port"}, {"-addr", "http://:secret@localhost"}, {"-addr", "redis://:secret%@localhost"},
		{"-addr", "redis://:secret@localhost/x"}, {"-colour"}, {"extra"},
	} {
		status, out, errs := play(t, t.Context(), args...)
		if status != exitUsage || out != "" || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "secret") {
			t.Errorf("%q: status %d, %s%s", args, status, out, errs)
		}
	}
	t.Setenv("REDIS_ADDR", "localhost:port")
	if _, err := parseFlags(nil, nil); err == nil || !strings.HasPrefix(err.Error(), "REDIS_ADDR ") {
		t.Errorf("REDIS_ADDR: %v", err)
	}
}

func TestFlags(t *testing.T) {
	t.Setenv("REDIS_ADDR", "")
	c, err := parseFlags(nil, nil)
	if err != nil || c.server != nil || c.duration != 2*time.Second || c.goroutines != 500 || !c.install {
		t.Errorf("defaults: %+v, %v", c, err)
	}
	for in, want := range map[string]string{
		"example": "example:6379", "example:7000": "example:7000", "[::1]:7000": "[::1]:7000", "redis://:pw@example/2": "example:6379",
	} {
		t.Setenv("REDIS_ADDR", in)
		c, err := parseFlags(nil, nil)
		if err != nil || c.server.Addr != want || c.source != "REDIS_ADDR" {
			t.Errorf("%s: %+v, %v", in, c.server, err)
		}
		if c, err = parseFlags([]string{"-addr", "other"}, nil); err != nil || c.server.Addr != "other:6379" || c.source != "-addr" {
			t.Errorf("-addr does not win over REDIS_ADDR=%s: %+v, %v", in, c.server, err)
		}
	}
	status, out, errs := play(t, t.Context(), "-h")
	if status != exitOK || errs != "" || !strings.Contains(out, "-goroutines") {
		t.Errorf("-h: status %d, %s%s", status, out, errs)
	}
}
