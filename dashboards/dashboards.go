// Package dashboards holds Grafana dashboards, Prometheus recording rules and alerts, and files that provision them, for
// programs that ship their own:
//
//	*.json                          the dashboards; their data sources are variables
//	rules/autopipe-recording.yml    recording rules
//	rules/autopipe-alerts.yml       alerts, which need the recording rules
//	provisioning/                   data sources and dashboards for Grafana's provisioning folder
//	mixin.libsonnet                 the same for jsonnet
//
// The dashboards and rules are made by the module in gen from the names in telemetry/meter. docs/dashboards.md tells how
// to read them, docs/runbook.md what to do about an alert.
package dashboards

import "embed"

// Files are the files named above, by these paths. os.CopyFS writes them to a folder.
//
//go:embed *.json mixin.libsonnet provisioning rules/autopipe-recording.yml rules/autopipe-alerts.yml
var Files embed.FS
