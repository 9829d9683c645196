package hook

import (
	"encoding"
	"net"
	"time"
)

// Form tells what go-redis's writer will find among a command's arguments.
type Form uint8

const (
	// Refs: some arguments are read through a pointer or slice when the command is written, so they must not
	// change until then.
	Refs Form = 1 << iota
	// UserCode: writing the command calls an argument's MarshalBinary.
	UserCode
	// Unencodable: the writer has no form for an argument and would fail, and with it the whole pipeline.
	Unencodable
)

// Measure estimates the bytes of a request and tells its form. It follows the type switch of go-redis's
// proto.Writer.WriteArg, calls no user code and does not allocate. Arguments with a MarshalBinary count as the
// overhead only, since their size is not known before they are encoded.
func Measure(args []any) (size int, form Form) {
	const overhead = 16 // "$<len>\r\n" and "\r\n" around each argument, rounded up
	size = overhead
	for _, arg := range args {
		size += overhead
		switch v := arg.(type) {
		case string:
			size += len(v)
		case []byte:
			size += len(v)
			form |= Refs
		case nil, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr,
			float32, float64, bool, time.Time, time.Duration:
			size += 8
		case *string:
			if v != nil {
				size += len(*v)
			}
			form |= Refs
		case *int, *int8, *int16, *int32, *int64, *uint, *uint8, *uint16, *uint32, *uint64, *uintptr,
			*float32, *float64, *bool, *time.Time, *time.Duration:
			size += 8
			form |= Refs
		case encoding.BinaryMarshaler:
			form |= UserCode
		case net.IP:
			size += len(v)
			form |= Refs
		default:
			form |= Unencodable
		}
	}
	return size, form
}

// Freeze replaces, in place, every argument that is read through a pointer or slice by a copy of its value, and
// every argument with a MarshalBinary by its encoding. The bytes that go-redis writes stay the same. It runs the
// user's MarshalBinary, so it belongs on the goroutine of the command's own caller; its error is the marshaller's.
func Freeze(args []any) error {
	for i, arg := range args {
		switch v := arg.(type) {
		case string, nil, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr,
			float32, float64, bool, time.Time, time.Duration:
		case []byte:
			args[i] = append([]byte(nil), v...)
		case *string:
			args[i] = value(v)
		case *int:
			args[i] = value(v)
		case *int8:
			args[i] = value(v)
		case *int16:
			args[i] = value(v)
		case *int32:
			args[i] = value(v)
		case *int64:
			args[i] = value(v)
		case *uint:
			args[i] = value(v)
		case *uint8:
			args[i] = value(v)
		case *uint16:
			args[i] = value(v)
		case *uint32:
			args[i] = value(v)
		case *uint64:
			args[i] = value(v)
		case *uintptr:
			args[i] = value(v)
		case *float32:
			args[i] = value(v)
		case *float64:
			args[i] = value(v)
		case *bool:
			args[i] = value(v)
		case *time.Time:
			args[i] = value(v)
		case *time.Duration:
			args[i] = value(v)
		case encoding.BinaryMarshaler:
			b, err := v.MarshalBinary()
			if err != nil {
				return err
			}
			args[i] = append([]byte(nil), b...) // the marshaller may keep its buffer
		case net.IP:
			args[i] = append([]byte(nil), v...)
		}
	}
	return nil
}

// value is what go-redis writes for a pointer: what it points to, or the zero value for nil.
func value[T any](p *T) any {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
