// Package payload holds messages of real shape to put into Redis: what a service
// stores is seldom sixteen times the letter x.
//
// The messages are those of a small protobuf bencher. To add one:
//
//  1. write its .proto file in this folder, like merchant_v1.proto;
//  2. run "make generate";
//  3. add a file like merchant_v1.go, that fills the message by chance and names it
//     in Messages, and one like bencher_v1_test.go with its four benchmarks.
package payload

import (
	"math/rand/v2"

	"google.golang.org/protobuf/proto"
)

// Message with both codecs: the standard one by reflection tables, and the code that
// vtprotobuf generates.
type Message interface {
	proto.Message
	MarshalVT() ([]byte, error)
	UnmarshalVT([]byte) error
}

// Kind of message.
type Kind struct {
	Name string
	// New empty message, to decode into.
	New func() Message
	// Random message, different each time.
	Random func(*rand.Rand) Message
	// Bytes it takes on the wire on average.
	Bytes float64
}

// Messages that there are.
var Messages = []Kind{merchantV1, merchantV38}
