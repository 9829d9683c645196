package query_test

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis/go-redis/v9"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
	"github.com/goautopipe/redis-autopipe/telemetry/prom"
)

// What the queries believe of autopipe's metrics must be what telemetry/prom exports: every name, every label.
func TestLabelsAreThoseExported(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	stats := func() *redis.PoolStats { return &redis.PoolStats{} }
	o := prom.New(reg, prom.WithPoolStats(stats))
	o.Attach(telemetry.Pipe{Name: "p", Gauges: func() telemetry.Gauges { return telemetry.Gauges{} }})
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string][]string{}
	for _, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				if l.GetName() != meter.LabelCommand { // only if asked for
					labels = append(labels, l.GetName())
				}
			}
			slices.Sort(labels)
			exported[f.GetName()] = labels
		}
	}
	for _, m := range meter.Catalogue {
		if m == meter.DBOperationDuration { // not exported by telemetry/prom
			continue
		}
		q := query.Ours(m)
		want := slices.DeleteFunc(slices.Clone(q.Labels), func(l string) bool { return l == meter.LabelCommand })
		slices.Sort(want)
		if got, ok := exported[q.Name]; !ok || !slices.Equal(got, want) {
			t.Errorf("%s is exported (%v) with the labels %v, and the queries believe %v", q.Name, ok, got, want)
		}
	}
}
