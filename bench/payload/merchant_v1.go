package payload

import "math/rand/v2"

var merchantV1 = Kind{
	Name:  "MerchantV1",
	New:   func() Message { return new(MerchantV1) },
	Bytes: 3,
	Random: func(r *rand.Rand) Message {
		// One number in 128 is small enough for a single byte, and as many too large for
		// two: three bytes with the tag, on average.
		return &MerchantV1{Settings: 1 + r.Uint64N(1<<14+1<<7)}
	},
}
