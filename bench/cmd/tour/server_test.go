package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// refuses checks that the tour ends soon, with status 1 and one line that has the given words.
func refuses(t *testing.T, addr string, words ...string) {
	t.Helper()
	start := time.Now()
	status, _, errs := play(t, t.Context(), "-addr", addr)
	if status != exitFailed {
		t.Errorf("%s: status %d", addr, status)
	}
	if took := time.Since(start); took > 10*time.Second { // 3 s are promised; the rest is for a busy test machine
		t.Errorf("%s: it took %v", addr, took)
	}
	if strings.Count(errs, "\n") != 1 || strings.Contains(errs, "secret") {
		t.Errorf("%s: not one line, or one that shows a password: %s", addr, errs)
	}
	for _, w := range words {
		if !strings.Contains(errs, w) {
			t.Errorf("%s: want %q in: %s", addr, w, errs)
		}
	}
}

// listen answers each connection with the text, or never if it is empty.
func listen(t *testing.T, answer string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var conns []net.Conn
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, c)
			fmt.Fprint(c, answer)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		for _, c := range conns {
			_ = c.Close()
		}
	})
	return l.Addr().String()
}

func TestNoRedisAtTheAddress(t *testing.T) {
	port, err := redistest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	closed := fmt.Sprint("127.0.0.1:", port)
	refuses(t, closed, "no Redis answers at "+closed, "connection refused", "correct -addr")
	refuses(t, listen(t, ""), "nothing within 2.5s")
	refuses(t, listen(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), "no Redis answers")
	refuses(t, "no-such-host.invalid", "its name is not known")
}

func TestRedisThatRefuses(t *testing.T) {
	s, err := redistest.Start(redistest.Args("--requirepass", "right-one"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	refuses(t, s.Addr(), "wants another password", "NOAUTH", "redis://user:password@")
	refuses(t, "redis://:secret@"+s.Addr(), "wants another password", "WRONGPASS")

	full, err := redistest.Start(redistest.Args("--maxmemory", "1kb"))
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	refuses(t, full.Addr(), "does not take the tour's keys", "OOM")
}

// TestInstall has a machine without redis-server and package lists, whose apt-get "installs" by making a link.
func TestInstall(t *testing.T) {
	real, err := redistest.Find()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, tool := range []string{"env", "timeout"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skip("no ", tool)
		}
		if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	script := func(name, body string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script("sudo", `shift; exec "$@"`)
	script("apt-get", `cd "`+bin+`" || exit 1
echo "$DEBIAN_FRONTEND $*" >>calls
case "$*" in
*update*) : >lists ;;
*) [ -f lists ] || { echo "E: Unable to locate package redis-server"; exit 100; }
   /bin/ln -s "`+real+`" redis-server ;;
esac`)
	t.Setenv("PATH", bin)
	t.Setenv("REDIS_SERVER", "")

	cfg := config{install: true}
	var out strings.Builder
	srv, err := findServer(t.Context(), cfg, newScreen(&out, func() {}))
	if err != nil {
		t.Fatal(err)
	}
	srv.close()
	if srv.embedded || !strings.HasPrefix(srv.short, "redis-server ") {
		t.Errorf("uses %s", srv.long())
	}
	if !strings.Contains(out.String(), "installing the Debian package") {
		t.Errorf("does not say what it does: %s", &out)
	}
	const install = "noninteractive -qq -y --no-install-recommends install redis-server\n"
	calls, _ := os.ReadFile(filepath.Join(bin, "calls"))
	if want := install + "noninteractive -qq update\n" + install; string(calls) != want {
		t.Errorf("apt-get was called with:\n%swant:\n%s", calls, want)
	}
}

// TestInstallFails falls back to miniredis and says why.
func TestInstallFails(t *testing.T) {
	bin := t.TempDir()
	for name, body := range map[string]string{
		"apt-get": "echo 'E: no network'; exit 100", "timeout": `shift 4; exec "$@"`, "env": `shift; exec "$@"`, "sudo": `shift; exec "$@"`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	t.Setenv("REDIS_SERVER", "")
	for _, install := range []bool{true, false} {
		var out strings.Builder
		srv, err := findServer(t.Context(), config{install: install}, newScreen(&out, func() {}))
		if err != nil {
			t.Fatal(err)
		}
		srv.close()
		if !srv.embedded {
			t.Errorf("uses %s", srv.long())
		}
		if got := strings.Contains(out.String(), "E: no network"); got != install {
			t.Errorf("install %v: %s", install, &out)
		}
	}
}
