// Package load drives clients: many callers, each issuing commands until a
// deadline, counted only once their replies are read.
//
// The drivers know nothing of Redis or of any client. They are kept cheap, since
// what they cost is added to every client alike and so makes all of them look
// more equal than they are: per command one atomic load, no clock reading but for
// one command in eight, no shared memory written.
package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Worker is one caller's hands: whatever it needs to issue commands, used by one
// goroutine only.
type Worker interface {
	// Do issues one unit of work, reads every reply, and returns how many commands
	// were executed without an error. A unit is a single command, or a window of
	// them for the faces that send before they read.
	Do(ctx context.Context) (executed int, err error)
}

// Mix is what share of the commands are reads.
type Mix string

// The mixes.
const (
	Set   Mix = "set"
	Get   Mix = "get"
	Mixed Mix = "mixed" // 90 % GET, 10 % SET
)

// ParseMix turns a flag's text into a Mix.
func ParseMix(s string) (Mix, error) {
	switch m := Mix(s); m {
	case Set, Get, Mixed:
		return m, nil
	}
	return "", fmt.Errorf("mix %q: want set, get or mixed", s)
}

// Work is what the callers of one run issue: the same for every client.
type Work struct {
	Mix  Mix
	Keys []string
	// Value is written by every SET. One string for all: clients copy it to their
	// buffers, so sharing it costs none of them anything and spares the collector.
	Value string
	// Window is how many commands a windowed face sends before it reads.
	Window int
}

const (
	maxKeys = 10_000
	// maxStored bounds what the keys of one size take in the server.
	maxStored = 64 << 20
	// maxPending bounds the bytes of values that all windows hold at once; wide
	// windows of large values would measure the memory, not the client.
	maxPending = 64 << 20
	fullWindow = 200
)

// NewWork prepares keys and a value of size bytes, for so many callers.
func NewWork(mix Mix, size, callers int) *Work {
	size = max(size, 1)
	w := &Work{Mix: mix, Keys: make([]string, min(maxKeys, max(maxStored/size, 16)))}
	for i := range w.Keys {
		w.Keys[i] = fmt.Sprintf("bench:%d:%06d", size, i)
	}
	w.Value = strings.Repeat("x", size)
	w.Window = min(fullWindow, max(maxPending/(size*max(callers, 1)), 1))
	return w
}

// Picker chooses a caller's next command. The zero value is not usable: take one
// from Work.Picker.
type Picker struct {
	work *Work
	rng  *rand.PCG
}

// Picker of one caller. Callers with different ids walk different keys, and the
// same id always walks the same ones, whatever the client.
func (w *Work) Picker(id int) Picker {
	return Picker{w, rand.NewPCG(uint64(id)+1, 0x9e3779b97f4a7c15)}
}

// Next key, and whether to read it.
func (p *Picker) Next() (key string, read bool) {
	r := p.rng.Uint64()
	key = p.work.Keys[int((r>>32)*uint64(len(p.work.Keys))>>32)]
	switch p.work.Mix {
	case Get:
		read = true
	case Mixed:
		read = uint32(r)%10 != 0
	}
	return key, read
}
