package board

import (
	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/grafanapyroscope"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/schema"
	"github.com/goautopipe/redis-autopipe/telemetry/profile"
)

var byInstance = query.By(query.LabelJob, query.LabelInstance)

// perCommand divides a counter of the process by the commands of all its pipes.
func perCommand(m query.Metric) string {
	process := query.Scope{Window: live.Window, Match: live.Match[:2]}
	return query.Div(process.SumRate(byInstance, m), process.SumRate(byInstance, names.Commands))
}

// runtime shows what commands cost the process, and where its time goes.
func runtime() *schema.Builder {
	vars := append(variables(),
		source(varPyroscope, "Profiles", pyroscopeType, "The Pyroscope that has the applications' profiles."),
		entry(varService, "Profiled service", "Pyroscope's service_name of the applications, a regular expression.", ".*"))
	d := newDashboard("runtime", "Runtime and profiling", "What commands cost the process: CPU, allocations, garbage collection; and where its time goes.", vars...)
	instance := "{{" + query.LabelInstance + "}}"
	return d.
		WithPanel(lines(about{1, "CPU per million commands", "CPU seconds of the whole process for a million commands of all its pipes: " +
			"what the application does besides is in it. Falls as batches grow.", seconds, 8, 8},
			q("A", instance, "1e6 * "+perCommand(names.ProcessCPU)))).
		WithPanel(lines(about{2, "Bytes allocated per command", "Heap bytes that the whole process allocates for each command.", bytes, 8, 8},
			q("A", instance, perCommand(names.GoAllocBytes)))).
		WithPanel(lines(about{3, "Objects allocated per command", "Heap objects that the whole process allocates for each command.", count, 8, 8},
			q("A", instance, perCommand(names.GoAllocObjects))).Decimals(1)).
		WithPanel(lines(about{4, "CPU", "Processors that the process keeps busy.", none, 6, 8},
			q("A", instance, live.SumRate(byInstance, names.ProcessCPU))).Decimals(2)).
		WithPanel(lines(about{5, "Garbage collections", "Collection cycles each second. Each wakes when the heap has doubled; GOGC and GOMEMLIMIT change that.", perSecond, 6, 8},
			q("A", instance, live.SumRate(byInstance, names.GoGC.Count())))).
		WithPanel(lines(about{6, "Goroutines and threads", "autopipe keeps no goroutine while idle, and one for each batch in flight.", count, 6, 8},
			q("A", "goroutines "+instance, live.Select(names.GoGoroutines)),
			q("B", "threads "+instance, live.Select(names.GoThreads)))).
		WithPanel(lines(about{7, "Memory", "Resident memory of the process, and the heap in use.", bytes, 6, 8},
			q("A", "resident "+instance, live.Select(names.ProcessMemory)),
			q("B", "heap "+instance, live.Select(names.GoHeapInUse)))).
		WithPanel(lines(about{8, "Scenarios side by side", "The demo load runs the same work in several ways at once: a plain client, autopipe, windows. " +
			"They take turns, and this is what each does while it runs. Only the demo exports this.", commands, 16, 8},
			q("A", "{{scenario}}", scenarios())).Interval(rotation)).
		WithPanel(scenarioBars()).
		WithPanel(flameGraph())
}

// rotation is longer than all scenarios' turns take together, so that each has one in every step.
const rotation = "15s"

func scenarios() string {
	return query.Div(live.SumRate(names.DemoOps.Labels, names.DemoOps), live.SumRate(names.DemoBusy.Labels, names.DemoBusy))
}

func scenarioBars() panel {
	return bargauge.NewPanelBuilder().
		Id(9).Title("Scenarios now").Description("The same as the graph beside it, the last value.").
		Unit(commands).Span(8).Height(8).Min(0).Interval(rotation).
		Datasource(prometheusRef).WithTarget(q("A", "{{scenario}}", scenarios())).
		Orientation(common.VizOrientationHorizontal).DisplayMode(common.BarGaugeDisplayModeBasic).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdPaletteClassic)).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
}

// flameGraph asks Pyroscope, which has the labels of telemetry/profile. The SDK knows the query but not the panel.
func flameGraph() panel {
	return dashboard.NewPanelBuilder().Type("flamegraph").
		Id(10).Title("CPU profile").
		Description("Where the processes' CPU time went. Runs of batches carry the labels " + profile.LabelStage + ", " + profile.LabelPipe + " and " + profile.LabelReason +
			" (telemetry/profile): open it in Explore to group by them.").
		Unit(none).Span(24).Height(14).
		Options(map[string]any{}).
		Datasource(pyroscopeRef).
		WithTarget(grafanapyroscope.NewDataqueryBuilder().RefId("A").Datasource(pyroscopeRef).
			ProfileTypeId("process_cpu:cpu:nanoseconds:cpu:nanoseconds").
			LabelSelector(`{service_name=~"$` + varService + `"}`).GroupBy([]string{}).
			QueryType(string(grafanapyroscope.PyroscopeQueryTypeProfile)))
}
