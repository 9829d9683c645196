package command

import (
	"reflect"
	"slices"
	"strings"
)

// A serverFact is a row of table_gen.go: what COMMAND said.
type serverFact struct {
	name     string
	flags    Flag
	write    bool // the server's write flag; the tests hold the overlay against it
	firstKey int8
}

// A replyPair is a row of table_gen.go: what a go-redis method queues.
type replyPair struct {
	name, sub string
	typ       reflect.Type
}

// A group gives the same facts to several commands, named in one string.
type group struct {
	flags Flag
	names string
}

var table = build()

// build joins the generated facts and the overlay. Everything only ever adds
// flags, so the strictest source wins.
func build() map[string]*Info {
	t := make(map[string]*Info, len(serverFacts)+256)
	at := func(name string) *Info {
		if t[name] == nil {
			t[name] = &Info{Name: name}
		}
		return t[name]
	}
	for _, f := range serverFacts {
		i := at(f.name)
		i.Flags |= f.flags
		i.FirstKey = f.firstKey
	}
	for _, groups := range [][]group{overlay, newer} {
		for _, g := range groups {
			for _, name := range splitNames(g) {
				at(name).Flags |= g.flags | Known
			}
		}
	}
	for _, pairs := range [][]replyPair{replyPairs, extraPairs()} {
		for _, p := range pairs {
			i := at(p.name)
			if !slices.Contains(i.Types, p.typ) {
				i.Types = append(i.Types, p.typ)
			}
			if p.sub != "" {
				i.subs = append(i.subs, subType{p.sub, p.typ})
			}
		}
	}
	for k := range forms {
		at(k.name).hasForms = true
	}
	for _, name := range []string{"georadius", "georadiusbymember", "arop"} {
		at(name).hasForms = true // decided by formAccepts itself
	}
	for name, i := range t {
		if strings.Contains(name, ".") {
			i.Flags |= Module
		}
	}
	for _, f := range firstKeys {
		for _, name := range strings.Fields(f.names) {
			at(name).FirstKey = f.pos
		}
	}
	return t
}

// splitNames returns the names of a group.
func splitNames(g group) []string { return strings.Fields(g.names) }
