package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/names"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/schema"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// problems collects what is wrong.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

// Board tells what is wrong with a dashboard besides its queries.
func Board(file string, d *schema.Dashboard) (found problems) {
	if d.Uid == nil || *d.Uid+".json" != file {
		found.add("the uid is not the file's name")
	}
	if d.Id != nil {
		found.add("it has an id, which is Grafana's to give")
	}
	if d.GraphTooltip == nil || *d.GraphTooltip != dashboard.DashboardCursorSyncCrosshair {
		found.add("the graphs do not share a crosshair")
	}
	ids := map[uint32]bool{}
	for _, p := range Panels(d) {
		for _, problem := range onePanel(p) {
			found.add("%s: %s", panelName(p), problem)
		}
		if p.Id != nil && ids[*p.Id] {
			found.add("%s: another panel has its id", panelName(p))
		} else if p.Id != nil {
			ids[*p.Id] = true
		}
	}
	if overlap := overlapping(Panels(d)); overlap != "" {
		found.add("%s", overlap)
	}
	variables(d, &found)
	marks(d, &found)
	return found
}

func panelName(p *dashboard.Panel) string {
	if p.Title == nil || p.Id == nil {
		return "a panel of type " + p.Type
	}
	return fmt.Sprintf("panel %d %q", *p.Id, *p.Title)
}

func onePanel(p *dashboard.Panel) (found problems) {
	if p.Id == nil || *p.Id == 0 {
		found.add("no id")
	}
	if p.Title == nil || *p.Title == "" {
		found.add("no title")
	}
	if p.Description == nil || len(*p.Description) < 20 {
		found.add("no description")
	}
	if p.Type == "text" {
		return found
	}
	if p.FieldConfig == nil || p.FieldConfig.Defaults.Unit == nil || *p.FieldConfig.Defaults.Unit == "" {
		found.add("no unit")
	}
	if o, ok := p.Options.(*heatmap.Options); ok && (o.YAxis.Unit == nil || *o.YAxis.Unit == "") {
		found.add("no unit on the heatmap's axis")
	}
	variableSource(p.Datasource, &found)
	refs := map[string]bool{}
	for _, t := range p.Targets {
		q, ok := promTarget(t)
		if !ok {
			if Unqueried[p.Type] == "" {
				found.add("a target that is not for Prometheus")
			}
			continue
		}
		variableSource(q.Datasource, &found)
		if q.RefId == nil || refs[*q.RefId] {
			found.add("targets without names of their own")
		} else {
			refs[*q.RefId] = true
		}
		instant := q.Instant != nil && *q.Instant
		if !instant && (q.LegendFormat == nil || *q.LegendFormat == "") {
			found.add("a target without a legend")
		}
		if latency(q.Expr) && !instant && (q.Exemplar == nil || !*q.Exemplar) && p.Type != "stat" {
			found.add("a latency without exemplars")
		}
	}
	return found
}

// latency says whether an expression shows the distribution of a duration of ours.
func latency(expr string) bool {
	for _, m := range names.All() {
		if m.Kind == meter.Histogram && strings.HasSuffix(m.Name, "_duration_seconds") && len(m.Labels) > 1 &&
			strings.Contains(expr, m.Bucket().Name) {
			return true
		}
	}
	return false
}

// variableSource wants the data source to be a variable, so that the dashboard works wherever it is imported.
func variableSource(ref *common.DataSourceRef, found *problems) {
	if ref == nil || ref.Uid == nil || !strings.HasPrefix(*ref.Uid, "${") {
		found.add("its data source is no variable")
	}
}

// wanted are the variables of every dashboard, in their order.
var wanted = []string{"datasource", query.LabelJob, query.LabelInstance, meter.LabelPipe, meter.LabelNode}

func variables(d *schema.Dashboard, found *problems) {
	var have []string
	for _, v := range d.Templating.List {
		have = append(have, v.Name)
		if v.Type == dashboard.VariableTypeQuery {
			variableSource(v.Datasource, found)
		}
	}
	if len(have) < len(wanted) || !slices.Equal(have[:len(wanted)], wanted) {
		found.add("its variables are %v and do not begin with %v", have, wanted)
	}
}

// marks wants annotations that show restarts and changes of the options.
func marks(d *schema.Dashboard, found *problems) {
	for _, m := range []query.Metric{names.ProcessStart, names.ConfigInfo, names.BuildInfo} {
		if !slices.ContainsFunc(d.Annotations.List, func(a dashboard.AnnotationQuery) bool {
			return a.Enable && a.Expr != nil && strings.Contains(*a.Expr, m.Name+"{")
		}) {
			found.add("no annotation shows changes of %s", m.Name)
		}
	}
	for _, a := range d.Annotations.List {
		variableSource(a.Datasource, found)
	}
}

// overlapping names two panels that cover each other.
func overlapping(panels []*dashboard.Panel) string {
	for i, a := range panels {
		for _, b := range panels[:i] {
			p, q := a.GridPos, b.GridPos
			if p.X < q.X+q.W && q.X < p.X+p.W && p.Y < q.Y+q.H && q.Y < p.Y+p.H {
				return panelName(a) + " covers " + panelName(b)
			}
		}
	}
	return ""
}
