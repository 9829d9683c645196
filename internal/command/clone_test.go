package command_test

import (
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/internal/command"
)

// instances gives a command of every type in the table with every field set,
// the unexported options that decide how the reply is read among them.
func instances() []redis.Cmder {
	types := map[reflect.Type]bool{reflect.TypeFor[*redis.Cmd](): true, reflect.TypeFor[*redis.RawCmd](): true}
	for _, name := range command.Names() {
		for _, typ := range command.Lookup(name).Types {
			types[typ] = true
		}
	}
	var cmds []redis.Cmder
	for typ := range types {
		v := reflect.New(typ.Elem())
		for i := range typ.Elem().NumField() {
			f := v.Elem().Field(i)
			if typ.Elem().Field(i).Name != "baseCmd" {
				fill(f, 0)
				continue
			}
			for j := range f.NumField() {
				switch f.Type().Field(j).Name {
				case "ctx", "err", "ready", "slotCache": // not the clone's
				default:
					fill(f.Field(j), 0)
				}
			}
		}
		cmds = append(cmds, v.Interface().(redis.Cmder))
	}
	return cmds
}

// fill sets a field, unexported or not, to something that is not its zero.
func fill(f reflect.Value, depth int) {
	f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	if depth > 4 {
		return
	}
	switch f.Kind() {
	case reflect.String:
		f.SetString("x")
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		f.SetInt(3)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.SetUint(3)
	case reflect.Float32, reflect.Float64:
		f.SetFloat(3)
	case reflect.Interface:
		if f.NumMethod() == 0 {
			f.Set(reflect.ValueOf("x"))
		}
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		fill(f.Elem(), depth+1)
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		fill(f.Index(0), depth+1)
	case reflect.Struct:
		if f.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range f.NumField() {
			fill(f.Field(i), depth+1)
		}
	}
}

// TestClone: a clone is the same command over its own list of arguments, and
// its result can be copied back whole.
func TestClone(t *testing.T) {
	for _, cmd := range instances() {
		if !command.CanClone(cmd) {
			continue
		}
		clone := cmd.Clone()
		if reflect.TypeOf(clone) != reflect.TypeOf(cmd) {
			t.Errorf("%T clones to %T", cmd, clone)
			continue
		}
		diff(t, cmd, clone)
		if a := clone.Args(); len(a) > 0 {
			a[0] = "changed"
			if cmd.Args()[0] == "changed" {
				t.Errorf("%T shares its arguments with its clone", cmd)
			}
		}
		clone.SetErr(redis.Nil)
		reflect.ValueOf(cmd).Elem().Set(reflect.ValueOf(clone).Elem())
		if cmd.Err() != redis.Nil {
			t.Errorf("%T: the copy back lost the error", cmd)
		}
	}
}

// diff compares field by field, empty and nil lists alike (they read the
// same) and functions by being there.
func diff(t *testing.T, a, b redis.Cmder) {
	t.Helper()
	va, vb := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range va.NumField() {
		fa, fb := va.Field(i), vb.Field(i)
		if va.Type().Field(i).Name == "baseCmd" {
			for j := range fa.NumField() {
				if n := fa.Type().Field(j).Name; n != "args" && n != "ctx" && n != "ready" && !same(fa.Field(j), fb.Field(j)) {
					t.Errorf("%T: Clone loses %s", a, n)
				}
			}
			continue
		}
		// Clones are made before there is a result. (As of 9.23 Clone forgets
		// parts of one that was read by the stream types and ClientInfoCmd.)
		if n := va.Type().Field(i).Name; n != "val" && !same(fa, fb) {
			t.Errorf("%T: Clone loses %s", a, n)
		}
	}
}

func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Func:
		return a.IsNil() == b.IsNil()
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return same(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		return a.Len() == b.Len()
	default:
		return a.Equal(b)
	}
}

// TestCloneRefused says of each refused type what is wrong with its clone. If
// go-redis mends one, this fails and CanClone can be wider.
func TestCloneRefused(t *testing.T) {
	buf := redis.NewZeroCopyStringCmd(ctx, make([]byte, 8), "get", "k")
	himport := []redis.Cmder{
		redis.NewHImportPrepareCmd(ctx, "s", "f"), redis.NewHImportSetCmd(ctx, "k", "s", "v"),
		redis.NewHImportDiscardCmd(ctx, "s"), redis.NewHImportDiscardAllCmd(ctx),
	}
	for _, cmd := range himport {
		if reflect.TypeOf(cmd.Clone()) == reflect.TypeOf(cmd) {
			t.Errorf("%T clones well now", cmd)
		}
	}
	for _, cmd := range append(himport, buf, redis.NewRawWriteToCmd(ctx, nil, "get", "k"), new(redis.MonitorCmd)) {
		if command.CanClone(cmd) {
			t.Errorf("%T must not be cloned", cmd)
		}
	}
	if !command.CanClone(redis.NewStringCmd(ctx, "get", "k")) {
		t.Error("a StringCmd can be cloned")
	}
}

// TestClonedResult sends clones to a server and copies their results back.
func TestClonedResult(t *testing.T) {
	rdb := newClient(t)
	rdb.GeoAdd(ctx, "g", &redis.GeoLocation{Name: "m", Longitude: 1, Latitude: 1})
	rdb.MSet(ctx, "a", "ohmytext", "b", "mynewtext")
	rdb.Expire(ctx, "a", time.Hour)
	rdb.XAdd(ctx, &redis.XAddArgs{Stream: "x", Values: []any{"f", "v"}})
	p := rdb.Pipeline()
	p.GeoRadius(ctx, "g", 1, 1, &redis.GeoRadiusQuery{Radius: 1, WithCoord: true, WithDist: true})
	p.GeoSearchLocation(ctx, "g", &redis.GeoSearchLocationQuery{
		GeoSearchQuery: redis.GeoSearchQuery{Member: "m", Radius: 1}, WithCoord: true, WithDist: true, WithHash: true,
	})
	p.LCS(ctx, &redis.LCSQuery{Key1: "a", Key2: "b", Idx: true, WithMatchLen: true})
	p.LCS(ctx, &redis.LCSQuery{Key1: "a", Key2: "b", Len: true})
	p.ExpireTime(ctx, "a")
	p.XInfoStreamFull(ctx, "x", 1)
	p.Scan(ctx, 0, "", 10)
	p.Get(ctx, "missing")
	p.Get(ctx, "x")
	for _, cmd := range p.Cmds() {
		clone := cmd.Clone()
		_ = rdb.Process(ctx, clone)
		_ = rdb.Process(ctx, cmd)
		want := cmd.String()
		reflect.ValueOf(cmd).Elem().Set(reflect.ValueOf(clone).Elem())
		if got := cmd.String(); got != want {
			t.Errorf("clone read %q, command read %q", got, want)
		}
	}
}

// TestCanShare shows why: in one pipeline, a buffer too small for its value
// makes the next command fail, though the server answered both.
func TestCanShare(t *testing.T) {
	rdb := newClient(t)
	rdb.Set(ctx, "k", "a long value", 0)
	p := rdb.Pipeline()
	small := p.GetToBuffer(ctx, "k", make([]byte, 2))
	next := p.Get(ctx, "k")
	p.Exec(ctx)
	if small.Err() == nil || next.Err() == nil {
		t.Errorf("go-redis keeps these apart now: %v, %v", small.Err(), next.Err())
	}
	if command.CanShare(small) || !command.CanShare(next) {
		t.Error("CanShare")
	}
}
