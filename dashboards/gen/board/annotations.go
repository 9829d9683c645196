package board

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// annotations mark on every graph when a process restarted, and when a pipe's options or the versions changed.
func annotations() []cog.Builder[dashboard.AnnotationQuery] {
	return []cog.Builder[dashboard.AnnotationQuery]{
		annotation("Restarts", "orange",
			"changes("+live.Over(names.ProcessStart)+") > 0", "Restart", query.LabelJob, query.LabelInstance),
		annotation("Config changes", "blue",
			changed(names.ConfigInfo, query.LabelJob, query.LabelInstance, meter.LabelPipe),
			"Options of {{"+meter.LabelPipe+"}} changed", names.ConfigInfo.Labels...),
		annotation("Version changes", "purple",
			changed(names.BuildInfo, query.LabelJob, query.LabelInstance),
			"Version changed", names.BuildInfo.Labels...),
	}
}

// changed finds the series of an info metric that are new while the same owner had another one before. A process that
// has just come up is no change.
func changed(m query.Metric, owner ...string) string {
	now := live.Select(m)
	before := now + " offset " + live.Window
	return now + " unless " + before + " and on (" + strings.Join(owner, ", ") + ") " + before
}

func annotation(name, color, expr, title string, tags ...string) cog.Builder[dashboard.AnnotationQuery] {
	var text []string
	for _, l := range tags {
		text = append(text, l+" {{"+l+"}}")
	}
	return dashboard.NewAnnotationQueryBuilder().
		Name(name).Enable(true).IconColor(color).
		Datasource(prometheusRef).
		Expr(expr).
		TitleFormat(title).TextFormat(strings.Join(text, ", "))
}
