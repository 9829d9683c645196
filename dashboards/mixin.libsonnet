// The dashboards and rules as a mixin: (import 'mixin.libsonnet') has grafanaDashboards, prometheusRules, prometheusAlerts.
{
  grafanaDashboards+:: {
    'autopipe-overview.json': import 'autopipe-overview.json',
    'autopipe-batching.json': import 'autopipe-batching.json',
    'autopipe-errors.json': import 'autopipe-errors.json',
    'autopipe-runtime.json': import 'autopipe-runtime.json',
    'autopipe-redis.json': import 'autopipe-redis.json',
  },
  prometheusRules+:: std.parseYaml(importstr 'rules/autopipe-recording.yml'),
  prometheusAlerts+:: std.parseYaml(importstr 'rules/autopipe-alerts.yml'),
}
