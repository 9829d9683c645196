package target

import (
	"strings"
	"testing"

	"github.com/goautopipe/redis-autopipe/internal/redistest"
)

func TestOpenCluster(t *testing.T) {
	t.Setenv(ClusterEnv, "")
	own, err := OpenCluster("")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if !own.Own() || len(own.Addrs()) != ClusterMasters {
		t.Errorf("own %v, addresses %v", own.Own(), own.Addrs())
	}
	t.Setenv(ClusterEnv, "redis://"+own.Addrs()[0]+", "+own.Addrs()[1])
	other, err := OpenCluster("")
	if err != nil {
		t.Fatal(err)
	}
	if other.Own() || len(other.Addrs()) != 2 || other.Addrs()[0] != own.Addrs()[0] {
		t.Errorf("own %v, addresses %v", other.Own(), other.Addrs())
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	single := redistest.Run(t)
	if _, err := OpenCluster(single.Addr()); err == nil || !strings.Contains(err.Error(), "cluster") {
		t.Errorf("a single server as a cluster: %v", err)
	}
}
