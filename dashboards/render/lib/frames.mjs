// From an answer of Prometheus to Grafana's data frames, as its own data source makes them.

/**
 * @typedef {{name: string, type: string, values: unknown[], labels?: Record<string, string>, config: object}} Field
 * @typedef {{refId: string, name?: string, fields: Field[], meta?: object}} Frame
 * @typedef {{refId: string, format: string, legend: string, step: number, result: {metric: Record<string, string>,
 *   values?: [number, string][], value?: [number, string]}[]}} Answer
 */

const number = (s) => (s === '+Inf' ? Infinity : s === '-Inf' ? -Infinity : Number(s));

// A graph has a gap where a query gives NaN, for example the quantile of no observation.
const point = (s) => (s === 'NaN' ? null : number(s));

/** @param {Answer[]} answers of one panel @returns {Frame[]} */
export function toFrames(answers) {
  const tables = answers.filter((a) => a.format === 'table').length;
  return answers.flatMap((a) => {
    switch (a.format) {
      case 'table':
        return a.result.length === 0 ? [] : [tableFrame(a, tables > 1 ? `Value #${a.refId}` : 'Value')];
      case 'heatmap':
        return a.result.length === 0 ? [] : [bucketFrame(a)];
      default:
        return a.result.map((series) => seriesFrame(a, series));
    }
  });
}

const points = (series) => series.values ?? [series.value];

function seriesFrame(answer, series) {
  const { __name__, ...labels } = series.metric;
  const name = seriesName(answer.legend, series.metric);
  const rows = withGaps(points(series), answer.step / 1000);
  return {
    refId: answer.refId,
    name,
    fields: [
      timeField(rows.map(([t]) => t * 1000), answer.step),
      {
        name: __name__ ?? 'Value',
        type: 'number',
        labels,
        config: name === undefined ? {} : { displayNameFromDS: name },
        values: rows.map(([, v]) => point(v)),
      },
    ],
  };
}

const timeField = (values, interval) => ({ name: 'Time', type: 'time', config: { interval }, values });

// A line must break where points are missing, not join what is left and right of the gap.
function withGaps(rows, step) {
  return rows.flatMap(([t, v], i) => (i > 0 && t - rows[i - 1][0] > 1.5 * step ? [[rows[i - 1][0] + step, 'NaN'], [t, v]] : [[t, v]]));
}

/** The legend of a series; undefined leaves the choice to Grafana. */
export function seriesName(legend, metric) {
  if (legend === '__auto') {
    return undefined;
  }
  if (legend) {
    return legend.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, label) => metric[label] ?? '');
  }
  const { __name__ = '', ...labels } = metric;
  const pairs = Object.entries(labels).map(([k, v]) => `${k}="${v}"`);
  return __name__ && pairs.length === 0 ? __name__ : `${__name__}{${pairs.join(', ')}}`;
}

function tableFrame(answer, valueName) {
  const labels = [...new Set(answer.result.flatMap((s) => Object.keys(s.metric)))].sort();
  const rows = answer.result.flatMap((s) => points(s).map(([t, v]) => ({ t, v, metric: s.metric })));
  return {
    refId: answer.refId,
    fields: [
      { name: 'Time', type: 'time', config: {}, values: rows.map((r) => r.t * 1000) },
      ...labels.map((l) => ({ name: l, type: 'string', config: { filterable: true }, values: rows.map((r) => r.metric[l] ?? '') })),
      { name: valueName, type: 'number', config: {}, values: rows.map((r) => point(r.v)) },
    ],
  };
}

/** Prometheus' buckets are cumulative; a heatmap shows how many fell into each. */
function bucketFrame(answer) {
  const byBound = new Map();
  for (const s of answer.result) {
    const bound = number(s.metric.le);
    const at = byBound.get(bound) ?? new Map();
    points(s).forEach(([t, v]) => at.set(t * 1000, (at.get(t * 1000) ?? 0) + number(v)));
    byBound.set(bound, at);
  }
  const bounds = [...byBound.keys()].sort((a, b) => a - b);
  const times = [...new Set([...byBound.values()].flatMap((at) => [...at.keys()]))].sort((a, b) => a - b);
  const fields = bounds.map((bound, i) => ({
    name: bound === Infinity ? '+Inf' : String(bound),
    type: 'number',
    config: {},
    values: times.map((t) => {
      const upTo = byBound.get(bound).get(t);
      const below = i === 0 ? 0 : byBound.get(bounds[i - 1]).get(t);
      return upTo === undefined || below === undefined ? null : Math.max(0, upTo - below);
    }),
  }));
  return { refId: answer.refId, meta: { type: 'buckets' }, fields: [timeField(times, answer.step), ...fields] };
}
