// Package board makes the Grafana dashboards.
package board

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/goautopipe/redis-autopipe/dashboards/gen/query"
	"github.com/goautopipe/redis-autopipe/dashboards/gen/schema"
	"github.com/goautopipe/redis-autopipe/telemetry/meter"
)

// tag marks all our dashboards, so that they can link to each other.
const tag = "autopipe"

// live is the scope of dashboard queries: what the variables select, over Grafana's own window.
var live = query.Scope{Window: "$__rate_interval", Match: []query.Match{
	{Label: query.LabelJob, Op: "=~", Value: "$job"},
	{Label: query.LabelInstance, Op: "=~", Value: "$instance"},
	{Label: meter.LabelPipe, Op: "=~", Value: "$pipe"},
	{Label: meter.LabelNode, Op: "=~", Value: "$node"},
}}

// Labels to group by.
var (
	all      []string
	byPipe   = query.By(meter.LabelPipe)
	byNode   = query.By(meter.LabelPipe, meter.LabelNode)
	byReason = query.By(meter.LabelReason)
)

// All are the dashboards by file name.
func All() (map[string]schema.Dashboard, error) {
	files := map[string]schema.Dashboard{}
	for _, b := range []*schema.Builder{overview(), batching(), errorsAndRetries(), runtime(), server()} {
		d, err := b.Build()
		if err != nil {
			return nil, err
		}
		if err := positioned(d); err != nil {
			return nil, fmt.Errorf("%s: %w", *d.Title, err)
		}
		files[*d.Uid+".json"] = d
	}
	return files, nil
}

// newDashboard is a dashboard without panels.
func newDashboard(uid, title, description string, variables ...cog.Builder[dashboard.VariableModel]) *schema.Builder {
	return schema.New("autopipe / "+title).
		Uid("autopipe-"+uid).
		Description(description).
		Tags([]string{tag, "redis"}).
		Readonly().
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Time("now-30m", "now").
		Refresh("30s").
		Timezone(common.TimeZoneBrowser).
		Variables(variables).
		Annotations(annotations()).
		Link(dashboard.NewDashboardLinkBuilder("autopipe").
			Type(dashboard.DashboardLinkTypeDashboards).Tags([]string{tag}).
			Icon("external link").Tooltip("The other autopipe dashboards, with the same selection and time").
			IncludeVars(true).KeepTime(true))
}

// positioned checks what the SDK leaves to us: rows must be full, or the next panel lands at an odd place.
func positioned(d schema.Dashboard) error {
	width := map[uint32]uint32{}
	for _, p := range d.Panels {
		if p.Panel != nil {
			width[p.Panel.GridPos.Y] += p.Panel.GridPos.W
		}
	}
	for y, w := range width {
		if w != 24 {
			return fmt.Errorf("the panels at y = %d are %d wide, not 24", y, w)
		}
	}
	return nil
}
