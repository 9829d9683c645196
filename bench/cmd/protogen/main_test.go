package main

import "testing"

// The generated files in the repository are those of the .proto files beside them.
func TestPayloadsAreUpToDate(t *testing.T) {
	if err := run("../../payload", true); err != nil {
		t.Fatal(err)
	}
}

func TestErrors(t *testing.T) {
	if err := run(t.TempDir(), true); err == nil {
		t.Error("a folder without .proto files is accepted")
	}
}
