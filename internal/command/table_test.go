package command_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"github.com/goautopipe/redis-autopipe/internal/command"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

var generatedFor = regexp.MustCompile(`serverVersion = "(.*)"`)

// rows returns the lines of the generated pairs.
func pairRows(src []byte) [][]byte {
	return regexp.MustCompile(`(?m)^\t\{.*reflect\.TypeFor.*$`).FindAll(src, -1)
}

// TestTableIsCurrent generates the table again. Under another server version
// than the table was made with, only the part that go-redis decides must agree.
func TestTableIsCurrent(t *testing.T) {
	gen := exec.Command("go", "run", "../gen/command", "-o", "-")
	gen.Env = append(os.Environ(), "REDIS_ADDR="+redistest.Shared(t).Addr())
	var stderr bytes.Buffer
	gen.Stderr = &stderr
	got, err := gen.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	if bytes.Contains(stderr.Bytes(), []byte("no command from")) {
		t.Errorf("go-redis has methods the generator cannot call:\n%s", stderr.Bytes())
	}
	want, err := os.ReadFile("table_gen.go")
	if err != nil {
		t.Fatal(err)
	}

	have := map[string]bool{}
	for _, row := range pairRows(want) {
		have[string(row)] = true
	}
	for _, row := range pairRows(got) {
		if !have[string(row)] {
			t.Errorf("go-redis gained a command the table lacks, run go generate ./internal/command: %s", row)
		}
	}
	v1, v2 := generatedFor.FindSubmatch(got), generatedFor.FindSubmatch(want)
	if v1 == nil || v2 == nil {
		t.Fatal("no server version in the table")
	}
	if !bytes.Equal(v1[1], v2[1]) {
		t.Logf("table made with Redis %s, this is %s: server facts not compared", v2[1], v1[1])
		return
	}
	if !bytes.Equal(got, want) {
		t.Error("table_gen.go is not what go generate ./internal/command makes")
	}
}

// TestEveryCommandIsKnown fails when go-redis gains a command that neither the
// server nor the overlay describes.
func TestEveryCommandIsKnown(t *testing.T) {
	names := command.Names()
	if len(names) < 400 || !slices.IsSorted(names) {
		t.Fatalf("%d names, sorted: %t", len(names), slices.IsSorted(names))
	}
	for _, name := range names {
		i := command.Lookup(name)
		if i.Name != name {
			t.Errorf("%q holds the facts of %q", name, i.Name)
		}
		if !i.Has(command.Known) {
			t.Errorf("go-redis gained %q, which the server does not describe: classify it in overlay_newer.go", name)
		}
		if i.Has(command.ReadOnly) && i.Has(command.Idempotent) {
			t.Errorf("%q is both a read and a write", name)
		}
	}
	if command.Lookup("no such command") != nil || command.Lookup("") != nil || command.Lookup("GET") != nil {
		t.Error("unknown and upper-case names must give nil")
	}
}
