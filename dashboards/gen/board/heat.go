package board

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// heatPanel is a heatmap over the buckets of one histogram.
type heatPanel struct {
	*heatmap.PanelBuilder
	query *prometheus.DataqueryBuilder
}

// heat draws the buckets that expr returns by le. unit is that of the bounds, cells that of the counts.
func heat(a about, cells, expr string) heatPanel {
	query := q("A", "{{le}}", expr).Format(prometheus.PromQueryFormatHeatmap)
	return heatPanel{
		query: query,
		PanelBuilder: heatmap.NewPanelBuilder().
			Id(a.id).Title(a.title).Description(a.help).Unit(a.unit).Span(a.width).Height(a.height).
			Datasource(prometheusRef).
			Calculate(false).CellGap(1).
			Color(heatmap.NewHeatmapColorOptionsBuilder().
				Mode(heatmap.HeatmapColorModeScheme).Scheme("Turbo").Fill("dark-orange").
				Scale(heatmap.HeatmapColorScaleExponential).Exponent(0.5).Steps(64)).
			CellValues(heatmap.NewCellValuesBuilder().Unit(cells)).
			FilterValues(heatmap.NewFilterValueRangeBuilder().Le(1e-9)). // empty cells stay dark
			YAxis(heatmap.NewYAxisConfigBuilder().Unit(a.unit).AxisPlacement(common.AxisPlacementLeft)).
			Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).YHistogram(true)),
	}
}

// exemplars marks the traced batches in the map.
func (h heatPanel) exemplars() heatPanel {
	h.query.Exemplar(true)
	return h
}

// Build implements cog.Builder.
func (h heatPanel) Build() (dashboard.Panel, error) { return h.WithTarget(h.query).Build() }

var _ cog.Builder[dashboard.Panel] = heatPanel{}
