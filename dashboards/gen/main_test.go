package main

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"
)

const committed = ".."

// TestCommitted: the files in the repository are what the generator makes, and no file is left that it no longer makes.
func TestCommitted(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(committed, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the generator makes; run: go run . ../", name)
		}
	}
	for _, pattern := range []string{"*.json", "rules/*.yml"} {
		names, err := fs.Glob(os.DirFS(committed), pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if files[name] == nil {
				t.Errorf("%s is not made by the generator", name)
			}
		}
	}
}

// TestWrite: write makes in a new folder what generate says.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(path.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, equal %v", name, err, bytes.Equal(got, want))
		}
	}
}
