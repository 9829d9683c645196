// Runs all queries of a dashboard and puts the answers into the one object that the page draws.

import { layout, withoutQueries } from './layout.mjs';
import { flameGraph } from './profile.mjs';
import { duration } from './prometheus.mjs';
import { builtins, stepOf, timeRange } from './timerange.mjs';
import { resolveVariables, substitute } from './variables.mjs';

const width = 1600;

/**
 * @param {object} dashboard as Grafana stores it
 * @param {import('./prometheus.mjs').Prometheus} prometheus
 * @param {{profiles?: string, now: number}} options profiles: address of a running process with /debug/pprof
 */
export async function collect(dashboard, prometheus, { profiles, now }) {
  const scrape = await prometheus.scrapeInterval();
  const range = timeRange(dashboard, now, await prometheus.oldestSample());
  const base = builtins(range, stepOf(range, width / 2, scrape), scrape);
  const variables = await resolveVariables(dashboard, prometheus, range, base);
  const context = { prometheus, range, scrape, variables, profiles };

  const panels = [];
  for (const panel of layout(dashboard)) {
    panels.push({ panel: fill(panel, variables, base), ...(await dataOf(panel, context)) });
  }
  const annotations = await Promise.all(
    (dashboard.annotations?.list ?? []).filter((a) => a.enable && a.expr).map((a) => annotation(a, context)),
  );
  return { title: dashboard.title, tags: dashboard.tags ?? [], links: dashboard.links ?? [], range, variables, builtin: base, annotations, panels };
}

// Titles and texts may use variables as well.
function fill(panel, variables, builtin) {
  const put = (s) => (typeof s === 'string' ? substitute(s, variables, builtin) : s);
  const options = panel.type === 'text' ? { ...panel.options, content: put(panel.options?.content) } : panel.options;
  return { ...panel, title: put(panel.title), description: put(panel.description), options };
}

async function dataOf(panel, context) {
  const errors = [];
  if (panel.type === 'flamegraph') {
    const flame = await flameGraph(panel, context).catch((error) => void errors.push(error.message));
    return { answers: [], errors, flame };
  }
  if (withoutQueries.has(panel.type)) {
    return { answers: [], errors };
  }
  const targets = (panel.targets ?? []).filter((t) => !t.hide);
  const answers = await Promise.all(
    targets.map((target) => answerOf(panel, target, context).catch((error) => {
      errors.push(`${target.refId}: ${error.message}`);
      return undefined;
    })),
  );
  return { answers: answers.filter(Boolean), errors };
}

async function answerOf(panel, target, { prometheus, range, scrape, variables }) {
  const kind = target.datasource?.type ?? panel.datasource?.type ?? 'prometheus';
  if (kind !== 'prometheus') {
    throw new Error(`data source ${kind} cannot be asked here`);
  }
  const atLeast = [panel.interval, target.interval]
    .filter(Boolean)
    .map((s) => duration(substitute(s, variables, builtins(range, scrape, scrape)).replace(/^[<>]=?/, '')));
  const points = panel.maxDataPoints ?? (width * panel.gridPos.w) / 24 / 2;
  const step = target.format === 'heatmap' && !panel.maxDataPoints
    ? stepOf(range, points / 4, scrape, ...atLeast) // a cell must be wide enough to be seen
    : stepOf(range, points, scrape, ...atLeast);
  const builtin = builtins(range, step, scrape);
  const expr = substitute(target.expr, variables, builtin);
  const { result } = target.instant
    ? await prometheus.query(expr, range.to)
    : await prometheus.queryRange(expr, range, step);
  return {
    refId: target.refId,
    format: target.format ?? 'time_series',
    legend: substitute(target.legendFormat ?? '', variables, builtin),
    step,
    expr,
    result,
  };
}

async function annotation(a, { prometheus, range, scrape, variables }) {
  const step = stepOf(range, width / 2, scrape, a.step ? duration(a.step) : 0);
  const expr = substitute(a.expr, variables, builtins(range, step, scrape));
  const { result } = await prometheus.queryRange(expr, range, step);
  const times = result.flatMap((s) => s.values.filter(([, v]) => Number(v) > 0).map(([t]) => t * 1000));
  return { name: a.name, color: a.iconColor ?? 'blue', times: starts(times, step) };
}

// Neighbouring points are one event.
function starts(times, step) {
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  return sorted.filter((t, i) => i === 0 || t - sorted[i - 1] > step);
}
