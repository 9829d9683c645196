package board

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// The types of data sources, as Grafana calls their plugins.
const (
	prometheusType = "prometheus"
	pyroscopeType  = "grafana-pyroscope-datasource"
)

// The names of variables that are no labels.
const (
	varPrometheus = "datasource"
	varPyroscope  = "pyroscope"
	varService    = "service"
)

func ref(typ, variable string) common.DataSourceRef {
	uid := "${" + variable + "}"
	return common.DataSourceRef{Type: &typ, Uid: &uid}
}

var (
	prometheusRef = ref(prometheusType, varPrometheus)
	pyroscopeRef  = ref(pyroscopeType, varPyroscope)
)

func source(name, label, typ, help string) cog.Builder[dashboard.VariableModel] {
	return dashboard.NewDatasourceVariableBuilder(name).Label(label).Type(typ).Description(help)
}

// entry is a variable that is typed in.
func entry(name, label, help, value string) cog.Builder[dashboard.VariableModel] {
	text := dashboard.StringOrArrayOfString{String: &value}
	return dashboard.NewTextBoxVariableBuilder(name).Label(label).Description(help).
		DefaultValue(dashboard.StringOrMap{String: &value}).Current(dashboard.VariableOption{Text: text, Value: text})
}

// choice is a variable whose values are those of a label. "All" is all of these values, so that panels of the Go runtime
// show the applications with autopipe and no others.
func choice(name, title, help, values string) *dashboard.QueryVariableBuilder {
	return dashboard.NewQueryVariableBuilder(name).Label(title).Description(help).
		Datasource(prometheusRef).
		Query(dashboard.StringOrMap{String: &values}).Definition(values).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
		Sort(dashboard.VariableSortAlphabeticalAsc).
		Multi(true).IncludeAll(true).
		Current(dashboard.VariableOption{
			Text:  dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
			Value: dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
		})
}

func labelValues(m query.Metric, label string, matches ...query.Match) string {
	return fmt.Sprintf("label_values(%s, %s)", query.Scope{Match: matches}.Select(m), label)
}

// variables are those of every dashboard; each narrows the next.
func variables() []cog.Builder[dashboard.VariableModel] {
	return append([]cog.Builder[dashboard.VariableModel]{
		source(varPrometheus, "Data source", prometheusType, "The Prometheus that scrapes the applications."),
	}, selection()...)
}

func selection() []cog.Builder[dashboard.VariableModel] {
	m := live.Match
	return []cog.Builder[dashboard.VariableModel]{
		choice(query.LabelJob, "Job", "The applications, by scrape job.", labelValues(names.BuildInfo, query.LabelJob)),
		choice(query.LabelInstance, "Instance", "Their processes.", labelValues(names.BuildInfo, query.LabelInstance, m[:1]...)),
		choice(meter.LabelPipe, "Pipe", "Hooks, by the name that WithName gave them.", labelValues(names.Commands, meter.LabelPipe, m[:2]...)),
		choice(meter.LabelNode, "Node", "Redis nodes, for clients with a lane for each (Attach). All includes the other clients.",
			labelValues(names.Commands, meter.LabelNode, m[:3]...)).AllValue(".*"), // series without the label too
	}
}
