// Package schema names the form of the dashboards: Grafana's first schema, which every Grafana that can be met reads from
// a file, and importers and mixins expect. The SDK prefers the second one.
package schema

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

//lint:file-ignore SA1019 the first schema is used on purpose, as the package says

// Dashboard is a dashboard.
type Dashboard = dashboard.Dashboard

// Builder makes one.
type Builder = dashboard.DashboardBuilder

// New starts a dashboard.
func New(title string) *Builder { return dashboard.NewDashboardBuilder(title) }
