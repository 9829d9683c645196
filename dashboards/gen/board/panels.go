package board

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/text"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// Grafana's units that the SDK has no constants for.
const (
	commands  = "ops"       // commands a second
	perSecond = "suffix:/s" // of anything else
	requests  = "reqps"     // round trips a second
	seconds   = "s"
	bytes     = "bytes"
	byteRate  = "Bps"
	ratio     = "percentunit"
	count     = "short"
	none      = "none"
)

// about is what every panel has. Ids are written out, since links and alerts point to them: never reuse one.
type about struct {
	id     uint32
	title  string
	help   string
	unit   string
	width  uint32 // of 24
	height uint32
}

type (
	target = cog.Builder[variants.Dataquery]
	panel  = cog.Builder[dashboard.Panel]
)

// q is a query over the dashboard's time.
func q(refID, legend, expr string) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().RefId(refID).LegendFormat(legend).Expr(expr).Range().Datasource(prometheusRef)
}

// traced is a query of a latency, whose exemplars lead to traces.
func traced(refID, legend, expr string) *prometheus.DataqueryBuilder {
	return q(refID, legend, expr).Exemplar(true)
}

// now is a query for the last moment only, as a table.
func now(refID, expr string) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().RefId(refID).Expr(expr).Instant().
		Format(prometheus.PromQueryFormatTable).Datasource(prometheusRef)
}

// lines is a graph with a line of names below it, which leaves most room for the graph.
func lines(a about, targets ...target) *timeseries.PanelBuilder {
	return timeseries.NewPanelBuilder().
		Id(a.id).Title(a.title).Description(a.help).Unit(a.unit).Span(a.width).Height(a.height).
		Datasource(prometheusRef).Targets(targets).
		Min(0).LineWidth(1).FillOpacity(5).ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).
			DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).Calcs([]string{})).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).
			Sort(common.SortOrderDescending).HideZeros(true))
}

// stacked is a graph whose series add up.
func stacked(a about, targets ...target) *timeseries.PanelBuilder {
	return lines(a, targets...).FillOpacity(60).
		Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
}

// figures puts a table below the graph, for up to three series: Grafana cuts a longer one off.
func figures(p *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return p.Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).
		DisplayMode(common.LegendDisplayModeTable).Placement(common.LegendPlacementBottom).
		Calcs([]string{"lastNotNull", "max"}))
}

// figuresRight puts a table of any length beside the graph, the greatest first.
func figuresRight(p *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return p.Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).
		DisplayMode(common.LegendDisplayModeTable).Placement(common.LegendPlacementRight).
		Calcs([]string{"lastNotNull", "max"}).SortBy("Max").SortDesc(true))
}

// number is one figure. Its history would be drawn across it; the graphs below have it.
func number(a about, steps []dashboard.Threshold, expr string) *stat.PanelBuilder {
	p := stat.NewPanelBuilder().
		Id(a.id).Title(a.title).Description(a.help).Unit(a.unit).Span(a.width).Height(a.height).
		Datasource(prometheusRef).WithTarget(q("A", a.title, expr)).
		Orientation(common.VizOrientationAuto).GraphMode(common.BigValueGraphModeNone).WideLayout(false).ColorMode(common.BigValueColorModeValue).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
	return p.Thresholds(dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps))
}

// steps are thresholds: the colour of everything, then pairs of a limit and the colour from there on.
func steps(base string, pairs ...any) []dashboard.Threshold {
	list := []dashboard.Threshold{{Color: base}}
	for i := 0; i+1 < len(pairs); i += 2 {
		limit := pairs[i].(float64)
		list = append(list, dashboard.Threshold{Value: &limit, Color: pairs[i+1].(string)})
	}
	return list
}

// markdown is a panel of text.
func markdown(a about, content string) *text.PanelBuilder {
	return text.NewPanelBuilder().
		Id(a.id).Title(a.title).Description(a.help).Span(a.width).Height(a.height).
		Mode(text.TextModeMarkdown).Content(content)
}
