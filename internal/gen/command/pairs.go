package main

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A pair is a command and a go-redis type that reads its reply. Commands that
// are containers (OBJECT, XINFO) have one reply per sub-command.
type pair struct{ name, sub, typ string }

func (p pair) compare(q pair) int {
	return cmp.Or(strings.Compare(p.name, q.name), strings.Compare(p.sub, q.sub), strings.Compare(p.typ, q.typ))
}

// notCommands are the methods of *redis.Pipeline that are no command of their own.
var notCommands = map[string]bool{
	"BatchProcess": true, "Process": true, // queue what they are given
	"Do": true, "DoRaw": true, "DoRawWriteTo": true, // read any reply, under any name
	"Cmds": true, "Discard": true, "Exec": true, "Len": true,
	"Pipeline": true, "Pipelined": true, "TxPipeline": true, "TxPipelined": true,
}

// pairs calls every command method of *redis.Pipeline (which has more than the
// interface: Wait, Monitor) on a pipeline that is never executed, and notes
// the Go types that stood in its queue: the types a hook will see. The type a
// method returns is not enough: HImportSet returns a *StatusCmd that is part
// of what it queued. The second result names the methods that queued nothing.
func pairs(containers map[string]bool) ([]pair, []string) {
	rdb := redis.NewClient(&redis.Options{Addr: "never-dialled.invalid:1"})
	defer rdb.Close()

	found := map[pair]bool{}
	note := func(cmd redis.Cmder) {
		p := pair{name: cmd.Name(), typ: strings.TrimPrefix(reflect.TypeOf(cmd).String(), "*redis.")}
		if containers[p.name] {
			if args := cmd.Args(); len(args) > 1 {
				p.sub = strings.ToLower(fmt.Sprint(args[1]))
			}
		}
		if p.name != "" {
			found[p] = true
		}
	}

	var silent []string
	pt := reflect.TypeFor[*redis.Pipeline]()
	for i := range pt.NumMethod() {
		name := pt.Method(i).Name
		if notCommands[name] {
			continue
		}
		queued, lastErr := 0, error(nil)
		for _, s := range styles {
			pipe := rdb.Pipeline()
			if err := call(pipe, name, s); err != nil {
				lastErr = err
			}
			for _, cmd := range pipe.Cmds() {
				queued++
				note(cmd)
			}
		}
		if queued == 0 {
			silent = append(silent, fmt.Sprintf("%s: %v", name, lastErr))
		}
	}

	return slices.SortedFunc(maps.Keys(found), pair.compare), silent
}

// call runs one method in one style. A panic (arguments go-redis refuses) is
// an answer too: the other styles will do.
func call(pipe redis.Pipeliner, name string, s style) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	m := reflect.ValueOf(pipe).MethodByName(name)
	out := m.Call(s.args(m.Type()))
	if len(out) > 0 {
		if cmd, ok := out[0].Interface().(redis.Cmder); ok && cmd != nil {
			return cmd.Err()
		}
	}
	return nil
}
