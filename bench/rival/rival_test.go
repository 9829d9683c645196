package rival

import (
	"strings"
	"testing"

	"github.com/goautopipe/redis-autopipe/bench/load"
	"github.com/goautopipe/redis-autopipe/bench/probe"
	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

// Every variant must execute exactly what it counts: the server's own count is the
// witness.
func TestEveryVariantCountsTruly(t *testing.T) {
	srv := redistest.Run(t)
	server := probe.NewServer(srv.Addr())
	defer server.Close()
	for _, v := range All() {
		t.Run(v.Name, func(t *testing.T) {
			if v.Missing != "" {
				t.Skip(v.Missing)
			}
			c, err := v.Open(Setup{Addr: srv.Addr(), Pool: 10})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}()
			for _, mix := range []load.Mix{load.Set, load.Get, load.Mixed} {
				work := load.NewWork(mix, 16, 4)
				work.Window = 10
				if err := server.Fill(t.Context(), work.Keys, work.Value); err != nil {
					t.Fatal(err)
				}
				before, _ := server.Read(t.Context())
				counted := uint64(0)
				for id := range 4 {
					w := c.Worker(work, id)
					for range 25 {
						n, err := w.Do(t.Context())
						if err != nil {
							t.Fatal(err)
						}
						counted += uint64(n)
					}
				}
				after, _ := server.Read(t.Context())
				want := uint64(100)
				if v.Windowed {
					want *= 10
				}
				if got := after.Sub(before).Calls; got != counted || counted != want {
					t.Errorf("%s: counted %d, the server %d, want %d", mix, counted, got, want)
				}
			}
		})
	}
}

func TestSelect(t *testing.T) {
	all, err := Select("all")
	if err != nil || len(all) < 7 || all[0].Name != "plain" {
		t.Fatalf("%d variants, %v", len(all), err)
	}
	two, err := Select("rueidis, plain")
	if err != nil || len(two) != 2 || two[0].Name != "rueidis" {
		t.Fatalf("%v, %v", two, err)
	}
	if _, err := Select("nobody"); err == nil || !strings.Contains(err.Error(), "rueidis") {
		t.Errorf("an unknown name gives %v", err)
	}
	for _, v := range all {
		if strings.ContainsAny(v.Name, " /") || v.Title == "" || v.Open == nil && v.Missing == "" {
			t.Errorf("variant %+v is incomplete", v)
		}
		if v.Windowed && v.Callers(2000) > 2000 {
			t.Errorf("%s: %d callers", v.Name, v.Callers(2000))
		}
	}
}
