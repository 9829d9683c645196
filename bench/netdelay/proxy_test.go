package netdelay

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// echo is a server that answers with what it got; the address ends with the test.
func echo(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	return ln.Addr().String()
}

func through(t *testing.T, target string, delay time.Duration) *Proxy {
	t.Helper()
	p, err := Listen("127.0.0.1:0", target, delay)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func dial(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// roundTrips of one byte each, sorted.
func roundTrips(t *testing.T, c net.Conn, n int) []time.Duration {
	t.Helper()
	var b [1]byte
	took := make([]time.Duration, n)
	for i := range took {
		start := time.Now()
		if _, err := c.Write(b[:]); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, b[:]); err != nil {
			t.Fatal(err)
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took
}

func TestDelayIsRight(t *testing.T) {
	addr := echo(t)
	for _, delay := range []time.Duration{0, 200 * time.Microsecond, time.Millisecond, 10 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			c := dial(t, through(t, addr, delay).Addr())
			roundTrips(t, c, 3)
			// How late the machine runs us is its own affair: judge the better half, of the best of several tries.
			var late time.Duration
			for range 20 {
				took := roundTrips(t, c, 30)
				t.Logf("shortest %v, median %v", took[0], took[len(took)/2])
				if took[0] < delay {
					t.Errorf("a round trip took %v, less than the link's %v", took[0], delay)
				}
				if late = took[len(took)/4] - delay; late <= 2*time.Millisecond {
					return
				}
			}
			t.Errorf("round trips take %v beyond the link's %v", late, delay)
		})
	}
}

func TestManyConnectionsKeepTheDelay(t *testing.T) {
	const delay = 20 * time.Millisecond
	p := through(t, echo(t), delay)
	var all sync.WaitGroup
	medians := make([]time.Duration, 50)
	for i := range medians {
		c := dial(t, p.Addr())
		all.Go(func() {
			took := roundTrips(t, c, 20)
			medians[i] = took[len(took)/2]
		})
	}
	all.Wait()
	slices.Sort(medians)
	// One after the other they would see 50 times the delay.
	if m := medians[len(medians)/2]; m < delay || m > 10*delay {
		t.Errorf("50 connections see a round trip of %v, want about %v", m, delay)
	}
}

func TestThroughputIsNotCapped(t *testing.T) {
	const size = 64 << 20
	sent := make([]byte, size)
	_, _ = rand.Read(sent)
	// One chunk per delay would need 64 MiB / 64 KiB * 100 ms = 102 s each way.
	c := dial(t, through(t, echo(t), 200*time.Millisecond).Addr())
	start := time.Now()
	go func() { _, _ = c.Write(sent); _ = c.CloseWrite() }()
	got, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	t.Logf("%d MiB there and back in %v", size>>20, took)
	if sha256.Sum256(got) != sha256.Sum256(sent) {
		t.Fatalf("got %d bytes, and not those that were sent", len(got))
	}
	if took > 40*time.Second {
		t.Errorf("64 MiB took %v", took)
	}
}

// A receiver that does not read must hold up only itself.
func TestSlowReceiverHoldsUpNobody(t *testing.T) {
	p := through(t, echo(t), time.Millisecond)
	slow, quick := dial(t, p.Addr()), dial(t, p.Addr())
	block := bytes.Repeat([]byte{1}, 1<<20)
	_ = slow.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	for range 64 {
		if _, err := slow.Write(block); err != nil {
			break // every buffer on the way is full
		}
	}
	took := roundTrips(t, quick, 20)
	if m := took[len(took)/2]; m > time.Second { // held up, it would never end
		t.Errorf("a neighbour's round trip takes %v", m)
	}
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	addr := echo(t)
	before := runtime.NumGoroutine()
	for range 5 {
		p := through(t, addr, time.Millisecond)
		c := dial(t, p.Addr())
		roundTrips(t, c, 1)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("the connection outlived the proxy")
		}
		c.Close()
	}
	for i := 0; runtime.NumGoroutine() > before && i < 100; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}
