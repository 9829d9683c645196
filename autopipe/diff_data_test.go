package autopipe_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// diffData is what each method finds. Every text argument that is made up is "1", so key "1" has the type that the
// method's name speaks of; the other keys have one each.
func diffData(t *testing.T, rdb *redis.Client, kindOf1 string) {
	t.Helper()
	p := rdb.Pipeline()
	p.FlushAll(bg)
	key := func(kind, k string) {
		switch kind {
		case "hash":
			p.HSet(bg, k, "1", "10", "f", "v", "g", "2.5")
		case "list":
			p.RPush(bg, k, "1", "b", "c", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13")
		case "set":
			p.SAdd(bg, k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14) // integers: their order is the same everywhere
		case "zset":
			p.ZAdd(bg, k, redis.Z{Score: 1, Member: "1"}, redis.Z{Score: 2, Member: "b"}, redis.Z{Score: 2.5, Member: "c"},
				redis.Z{Score: 4, Member: "d"}, redis.Z{Score: 5, Member: "e"}, redis.Z{Score: 6, Member: "f"})
		case "stream":
			for _, id := range []string{"1-1", "1-2", "2-1", "3-1"} {
				p.XAdd(bg, &redis.XAddArgs{Stream: k, ID: id, Values: []string{"f", id}})
			}
			p.XGroupCreate(bg, k, "1", "0")
			p.XReadGroup(bg, &redis.XReadGroupArgs{Group: "1", Consumer: "1", Streams: []string{k, ">"}, Count: 2, Block: -1})
		case "geo":
			p.GeoAdd(bg, k, &redis.GeoLocation{Name: "1", Longitude: 1, Latitude: 1}, &redis.GeoLocation{Name: "b", Longitude: 1.001, Latitude: 1})
		case "hll":
			p.PFAdd(bg, k, "a", "b", "c")
		default:
			p.Set(bg, k, "1", 0)
		}
	}
	for _, kind := range []string{"hash", "list", "set", "zset", "stream", "geo", "hll", "text"} {
		key(kind, kind)
	}
	if kindOf1 != "" {
		key(kindOf1, "1")
	}
	if _, err := p.Exec(bg); err != nil {
		t.Fatal(err)
	}
}

// diffKind is the type of key that a method wants.
func diffKind(method string) string {
	for _, k := range []struct{ prefix, kind string }{
		{"Geo", "geo"}, {"PF", "hll"}, {"Set", "text"}, {"Str", "text"}, {"Sort", "list"}, {"Scan", "text"}, {"Save", "text"},
		{"Script", "text"}, {"SlowLog", "text"}, {"SPublish", "text"}, {"Z", "zset"}, {"X", "stream"}, {"H", "hash"},
		{"LCS", "text"}, {"L", "list"}, {"RPush", "list"}, {"RPop", "list"}, {"BL", "list"}, {"BRPop", "list"}, {"BZ", "zset"}, {"S", "set"},
	} {
		if strings.HasPrefix(method, k.prefix) {
			return k.kind
		}
	}
	return "text"
}

// diffMade makes up arguments for every method of redis.Cmdable: each text is "1", each number 0, 1 or 2, lists and
// options full or empty.
func diffMade() []diffCase {
	var cases []diffCase
	iface := reflect.TypeFor[redis.Cmdable]()
	for i := range iface.NumMethod() {
		m := iface.Method(i)
		if diffSkip[m.Name] != "" {
			continue
		}
		byHand := strings.HasPrefix(m.Name, "B") && strings.Contains(m.Type.String(), "time.Duration") ||
			strings.HasPrefix(m.Name, "XRead") || m.Name == "Migrate"
		if byHand { // they block
			continue
		}
		for _, s := range []diffStyle{{1, false, false}, {1, false, true}, {1, true, true}, {0, true, false}, {0, false, false}, {2, false, true}} {
			cases = append(cases, diffCase{m.Name, func(c redis.Cmdable) redis.Cmder {
				f := reflect.ValueOf(c).MethodByName(m.Name)
				cmd, _ := f.Call(s.args(f.Type()))[0].Interface().(redis.Cmder)
				return cmd
			}, false})
		}
	}
	return cases
}

// diffStyle is one way to make up arguments.
type diffStyle struct {
	num   int
	empty bool // no variadics, no lists, no options
	flag  bool // every bool
}

func (s diffStyle) args(f reflect.Type) (in []reflect.Value) {
	for i := range f.NumIn() {
		t := f.In(i)
		if f.IsVariadic() && i == f.NumIn()-1 {
			if !s.empty {
				in = append(in, s.value(t.Elem(), 0), s.value(t.Elem(), 0))
			}
			break
		}
		in = append(in, s.value(t, 0))
	}
	return in
}

func (s diffStyle) value(t reflect.Type, depth int) reflect.Value {
	switch t {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(&diffCtx).Elem()
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Unix(4e9, 0))
	case reflect.TypeFor[time.Duration]():
		return reflect.ValueOf(time.Duration(s.num) * time.Hour)
	case reflect.TypeFor[redis.Vector]():
		return reflect.ValueOf(&redis.VectorValues{Val: []float64{1}})
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		v.SetString("1")
	case reflect.Bool:
		v.SetBool(s.flag)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(s.num))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(s.num))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(s.num))
	case reflect.Interface:
		if t.NumMethod() == 0 {
			v.Set(reflect.ValueOf("1"))
		}
	case reflect.Pointer:
		if depth < 4 {
			p := reflect.New(t.Elem())
			p.Elem().Set(s.value(t.Elem(), depth+1))
			v.Set(p)
		}
	case reflect.Slice:
		if !s.empty && depth < 4 {
			v = reflect.MakeSlice(t, 2, 2)
			for i := range 2 {
				v.Index(i).Set(s.value(t.Elem(), depth+1))
			}
		}
	case reflect.Map:
		if !s.empty {
			v = reflect.MakeMap(t)
			v.SetMapIndex(s.value(t.Key(), depth+1), s.value(t.Elem(), depth+1))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && depth < 4 && !(s.empty && depth > 0) {
				v.Field(i).Set(s.value(f.Type, depth+1))
			}
		}
	}
	return v
}
