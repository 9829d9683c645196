// The few calls of Prometheus' HTTP API that a dashboard needs.

export class Prometheus {
  /** @param {string} base address of the server, for example http://localhost:9090 */
  constructor(base) {
    this.base = base.replace(/\/+$/, '');
  }

  /** Calls path and returns `data` of the answer; throws with Prometheus' own words if it refuses. */
  async get(path, params = {}) {
    const query = new URLSearchParams(params);
    const answer = await fetch(`${this.base}/api/v1/${path}?${query}`, { signal: AbortSignal.timeout(30_000) });
    const body = await answer.json().catch(() => ({ status: 'error', error: `HTTP ${answer.status}` }));
    if (body.status !== 'success') {
      throw new Error(`${path} ${query.get('query') ?? ''}: ${body.error}`);
    }
    return body.data;
  }

  /** @param {{from: number, to: number}} range in ms @param {number} step in ms */
  queryRange(expr, range, step) {
    // Grafana aligns to the step too, so that a refresh does not move the points.
    const start = Math.floor(range.from / step) * step;
    const end = Math.floor(range.to / step) * step;
    return this.get('query_range', { query: expr, start: start / 1000, end: end / 1000, step: step / 1000 });
  }

  query(expr, time) {
    return this.get('query', { query: expr, time: time / 1000 });
  }

  labelValues(label, match, range) {
    const params = { start: range.from / 1000, end: range.to / 1000 };
    if (match) {
      params['match[]'] = match;
    }
    return this.get(`label/${label}/values`, params);
  }

  /** The scrape interval in ms, on which $__rate_interval depends. */
  async scrapeInterval() {
    const { yaml } = await this.get('status/config');
    const found = /^\s*scrape_interval:\s*(\S+)/m.exec(yaml);
    return found ? duration(found[1]) : 60_000;
  }

  /** When the oldest sample in memory was taken, in ms. */
  async oldestSample() {
    const { headStats } = await this.get('status/tsdb');
    return headStats.minTime;
  }
}

const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** ms of a duration such as 15s or 1m30s. */
export function duration(text) {
  if (!/^(\d+(ms|[smhdw]))+$/.test(text)) {
    throw new Error(`not a duration: ${text}`);
  }
  return [...text.matchAll(/(\d+)(ms|[smhdw])/g)].reduce((sum, [, n, u]) => sum + Number(n) * unit[u], 0);
}
