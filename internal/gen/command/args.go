package main

import (
	"context"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"
)

// maxDepth bounds how deep option structs are filled in: the options of
// go-redis nest two or three levels, more only costs time.
const maxDepth = 4

var (
	contextType  = reflect.TypeFor[context.Context]()
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	errorType    = reflect.TypeFor[error]()
)

// A style is one way to make up arguments. Which reply type a method returns
// can hang on a bool, on an option struct being nil or on a list being empty,
// so every method is called once in each style.
type style struct {
	empty bool // leave variadics, slices, maps and option structs empty
	flag  bool // the value of every bool, also inside option structs
	null  bool // pass nil for pointers to option structs
	num   int  // every number
}

var styles = []style{
	{num: 1}, {num: 1, flag: true},
	{num: 1, empty: true}, {num: 1, empty: true, flag: true},
	{num: 0, null: true, empty: true}, {num: 0, null: true},
	{num: 0}, {num: 2, flag: true},
}

// interfaces go-redis takes as arguments, with a value that satisfies each.
var samples = map[reflect.Type]any{
	reflect.TypeFor[redis.Vector](): &redis.VectorValues{Val: []float64{1}},
}

// value makes up one argument of type t.
func (s style) value(t reflect.Type, depth int) reflect.Value {
	if v, ok := samples[t]; ok {
		return reflect.ValueOf(v)
	}
	switch t {
	case contextType:
		return reflect.ValueOf(context.Background())
	case timeType:
		return reflect.ValueOf(time.Unix(1, 0))
	case durationType:
		return reflect.ValueOf(time.Duration(s.num) * time.Second)
	case errorType:
		return reflect.Zero(t)
	}
	v := reflect.New(t).Elem()
	if depth > maxDepth {
		return v
	}
	switch t.Kind() {
	case reflect.String:
		v.SetString("1") // reads as a key, as a number and as a range bound
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
		if !s.null {
			p := reflect.New(t.Elem())
			p.Elem().Set(s.value(t.Elem(), depth+1))
			v.Set(p)
		}
	case reflect.Slice:
		if !s.empty {
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
		if s.empty && depth > 0 {
			return v
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				v.Field(i).Set(s.value(f.Type, depth+1))
			}
		}
	}
	return v
}

// args makes up the whole argument list of a bound method.
func (s style) args(m reflect.Type) []reflect.Value {
	var in []reflect.Value
	for i := range m.NumIn() {
		t := m.In(i)
		if m.IsVariadic() && i == m.NumIn()-1 {
			if !s.empty {
				e := s.value(t.Elem(), 0)
				in = append(in, e, e)
			}
			break
		}
		in = append(in, s.value(t, 0))
	}
	return in
}
