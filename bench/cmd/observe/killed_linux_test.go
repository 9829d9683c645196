package main

import "testing"

// What observe started dies with it, even if it cannot clean up. Only Linux can do that.
func TestKilled(t *testing.T) {
	cmd, addrs := spawn(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	gone(t, addrs)
}
