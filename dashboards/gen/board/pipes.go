package board

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// column is one figure of the table, from a query of its own.
type column struct {
	refID, title, unit, expr string
	decimals                 int
	steps                    []dashboard.Threshold // nil: no colours
}

// pipes is a table with a row for each pipe and node.
func pipes() panel {
	columns := []column{
		{"A", "Commands", commands, live.SumRate(byNode, names.Commands), 1, nil},
		{"B", "Per round trip", count, perRoundTrip(byNode), 1, nil},
		{"C", "p99 queue wait", seconds, live.Quantile(0.99, byNode, names.QueueWait), 1, steps("text", 0.01, "yellow", 0.1, "red")},
		{"D", "p99 round trip", seconds, live.Quantile(0.99, byNode, names.BatchDuration), 1, steps("text", 0.01, "yellow", 0.1, "red")},
		{"E", "p99 as callers saw it", seconds, live.Quantile(0.99, byNode, names.CommandDuration), 1, steps("text", 0.01, "yellow", 0.1, "red")},
		{"F", "Error ratio", ratio, errorRatio(byNode), 2, steps("text", 0.001, "yellow", 0.01, "red")},
		{"G", "Retries", perSecond, live.SumRate(byNode, names.Retries), 1, nil},
		{"H", "Direct", commands, live.SumRate(byNode, names.Direct), 1, nil},
	}
	p := table.NewPanelBuilder().
		Id(12).Title("Pipes and nodes").
		Description("A row for each pipe (WithName), and for each node of clients with a lane of its own for it (Attach). " +
			"Click a column to sort by it.").
		Unit(none).Span(24).Height(10).
		Datasource(prometheusRef).
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{})). // strict schema: not null
		SortBy([]cog.Builder[common.TableSortByFieldState]{
			common.NewTableSortByFieldStateBuilder().DisplayName(columns[0].title).Desc(true),
		})
	rename, index := map[string]any{}, map[string]any{meter.LabelPipe: 0, meter.LabelNode: 1}
	for i, c := range columns {
		p.WithTarget(now(c.refID, c.expr))
		rename["Value #"+c.refID], index["Value #"+c.refID] = c.title, i+2
		p.OverrideByName(c.title, c.properties())
	}
	return p.
		WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": map[string]any{"Time": true},
			"renameByName":  rename,
			"indexByName":   index,
		}})
}

// properties are how the column's cells look.
func (c column) properties() []property {
	list := []property{{Id: "unit", Value: c.unit}, {Id: "decimals", Value: c.decimals}}
	if c.steps != nil {
		list = append(list,
			property{Id: "thresholds", Value: dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: c.steps}},
			property{Id: "custom.cellOptions", Value: map[string]any{"type": "color-text"}})
	}
	return list
}
