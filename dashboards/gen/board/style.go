package board

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"github.com/goautopipe/redis-autopipe/telemetry"
)

// One colour for each outcome and each flush reason, the same on every dashboard.
var (
	outcomeColors = [telemetry.NumOutcomes]string{
		telemetry.OutcomeOK:             "green",
		telemetry.OutcomeNil:            "blue",
		telemetry.OutcomeServerError:    "yellow",
		telemetry.OutcomeTransportError: "red",
		telemetry.OutcomeUncertain:      "purple",
		telemetry.OutcomeCancelled:      "super-light-orange",
		telemetry.OutcomeRejected:       "dark-orange",
	}
	flushColors = [telemetry.NumFlushReasons]string{
		telemetry.FlushIdle:   "green",
		telemetry.FlushDrain:  "blue",
		telemetry.FlushSize:   "orange",
		telemetry.FlushBytes:  "dark-orange",
		telemetry.FlushLinger: "purple",
		telemetry.FlushWindow: "yellow",
	}
)

type property = dashboard.DynamicConfigValue

func color(name string) property {
	return property{Id: "color", Value: map[string]any{"mode": "fixed", "fixedColor": name}}
}

func colored(p *timeseries.PanelBuilder, series, name string) *timeseries.PanelBuilder {
	return p.OverrideByName(series, []property{color(name)})
}

func outcomeColored(p *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	for i, c := range outcomeColors {
		p = colored(p, telemetry.Outcome(i).String(), c)
	}
	return p
}

func flushColored(p *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	for i, c := range flushColors {
		p = colored(p, telemetry.FlushReason(i).String(), c)
	}
	return p
}

// overlay draws one series of a stacked graph as a line that does not stack.
func overlay(p *timeseries.PanelBuilder, series string) *timeseries.PanelBuilder {
	return p.OverrideByName(series, []property{
		{Id: "custom.stacking", Value: map[string]any{"mode": "none", "group": "A"}},
		{Id: "custom.fillOpacity", Value: 0},
		{Id: "custom.lineWidth", Value: 2},
		color("text"),
	})
}

// outcomes turns telemetry's values into what query.Is takes.
func stringers[T fmt.Stringer](values ...T) []fmt.Stringer {
	var list []fmt.Stringer
	for _, v := range values {
		list = append(list, v)
	}
	return list
}
