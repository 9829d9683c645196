package profile

import (
	"context"
	"runtime/pprof"
	"unsafe"
)

// current is the label set of the running goroutine, nil for none. runtime/pprof can set it but not tell it. The
// runtime keeps this name stable for packages like ours (see proflabel.go and go.dev/issue/67401).
//
//go:linkname current runtime/pprof.runtime_getProfLabel
func current() unsafe.Pointer

// set is a label set made once. Its identity, a pointer, tells later whether a goroutine carries it.
type set struct {
	ctx context.Context
	ptr unsafe.Pointer
}

// makeSet makes a label set. It must run on a goroutine whose labels may be lost: see makeSets.
func makeSet(labels pprof.LabelSet) set {
	ctx := pprof.WithLabels(context.Background(), labels)
	pprof.SetGoroutineLabels(ctx)
	return set{ctx: ctx, ptr: current()}
}

func (s set) apply() { pprof.SetGoroutineLabels(s.ctx) }

// restore gives the running goroutine a label set that current has told.
//
//go:linkname restore runtime/pprof.runtime_setProfLabel
func restore(labels unsafe.Pointer)
