package otelpipe

import (
	"maps"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"

	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// table is a map that is read without a lock and without allocating, and grows seldom.
type table[K comparable, V any] struct {
	mu   sync.Mutex
	read atomic.Pointer[map[K]V]
}

// get returns the entry of k, made by create at its first use.
func (t *table[K, V]) get(k K, create func(K) V) V {
	if m := t.read.Load(); m != nil {
		if v, ok := (*m)[k]; ok {
			return v
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	next := map[K]V{}
	if m := t.read.Load(); m != nil {
		if v, ok := (*m)[k]; ok {
			return v
		}
		maps.Copy(next, *m)
	}
	v := create(k)
	next[k] = v
	t.read.Store(&next)
	return v
}

// each calls f for each entry.
func (t *table[K, V]) each(f func(K, V)) {
	if m := t.read.Load(); m != nil {
		for k, v := range *m {
			f(k, v)
		}
	}
}

// nodeSet bounds how many nodes are told apart, as the meter does.
type nodeSet struct{ table[string, string] }

func (s *nodeSet) bound(node string) string {
	if node == "" {
		return ""
	}
	if m := s.read.Load(); m != nil && len(*m) >= meter.MaxNodes && (*m)[node] == "" {
		return meter.Other
	}
	return s.get(node, func(n string) string { return n })
}

// series are the attributes of a pipe's series: pipe, node if there is one, and what is added.
func series(pipe, node string, more ...attribute.KeyValue) attribute.Set {
	kv := make([]attribute.KeyValue, 0, 4)
	kv = append(kv, attribute.String(meter.LabelPipe, pipe))
	if node != "" {
		kv = append(kv, attribute.String(meter.LabelNode, node))
	}
	return attribute.NewSet(append(kv, more...)...)
}

// info are the attributes of an info metric.
func info(labels []meter.InfoLabel) []attribute.KeyValue {
	kv := make([]attribute.KeyValue, len(labels))
	for i, l := range labels {
		kv[i] = attribute.String(l.Key, l.Value)
	}
	return kv
}
