package plan

import (
	"testing"
	"time"
)

// The cluster's part of "make bench" stays short beside the rest.
func TestClusterPartIsShort(t *testing.T) {
	p := Standard()
	if p.Cluster == nil || len(p.Cluster.Scenarios) < 3 || p.Cluster.Pauses < 3 {
		t.Fatalf("%+v", p.Cluster)
	}
	if d := p.EstimateCluster(6, 5); d < time.Minute || d > 4*time.Minute {
		t.Errorf("with six variants it takes %v", d)
	}
	q := Quick()
	if q.Cluster != nil || q.EstimateCluster(6, 5) != 0 {
		t.Error("a quick look takes a cluster")
	}
}
