package payload

import (
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"
)

func TestBothCodecsAgree(t *testing.T) {
	for _, k := range Messages {
		t.Run(k.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 1))
			total := 0
			const n = 20_000
			for range n {
				m := k.Random(rng)
				std, err := proto.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				vt, err := m.MarshalVT()
				if err != nil {
					t.Fatal(err)
				}
				total += len(std)
				a, b := k.New(), k.New()
				if err := proto.Unmarshal(vt, a); err != nil {
					t.Fatal(err)
				}
				if err := b.UnmarshalVT(std); err != nil {
					t.Fatal(err)
				}
				if !proto.Equal(a, m) || !proto.Equal(b, m) {
					t.Fatalf("%v comes back as %v and %v", m, a, b)
				}
			}
			if mean := float64(total) / n; math.Abs(mean-k.Bytes) > k.Bytes*0.02 {
				t.Errorf("%.2f bytes on average, want %v", mean, k.Bytes)
			}
		})
	}
}
