// The time range of a picture, and the intervals that Grafana derives from it.

import { duration } from './prometheus.mjs';

/**
 * The dashboard's own range, ending now, without the part before the oldest sample: a demo that has run for three
 * minutes fills the picture instead of a sliver of an hour.
 */
export function timeRange(dashboard, now, oldest) {
  const { from = 'now-1h', to = 'now' } = dashboard.time ?? {};
  const back = /^now-(\w+)$/.exec(from);
  if (!back || to !== 'now') {
    throw new Error(`time range ${from} to ${to}: only "now-<duration>" to "now" can be drawn`);
  }
  return { from: Math.max(now - duration(back[1]), Math.min(oldest, now - 60_000)), to: now };
}

const round = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 21600, 43200, 86400];

/**
 * The step of a range query in ms: about one point per two pixels, never finer than the scrape interval or what the
 * panel or target asks for.
 */
export function stepOf(range, points, ...atLeast) {
  const raw = Math.max((range.to - range.from) / points, ...atLeast);
  return 1000 * (round.find((s) => s * 1000 >= raw) ?? Math.ceil(raw / 86_400_000) * 86_400);
}

/** Grafana's built-in variables. */
export function builtins(range, step, scrape) {
  const seconds = Math.round((range.to - range.from) / 1000);
  return {
    __interval: `${step / 1000}s`,
    __interval_ms: `${step}`,
    __rate_interval: `${Math.max(step + scrape, 4 * scrape) / 1000}s`,
    __range: `${seconds}s`,
    __range_s: `${seconds}`,
    __range_ms: `${seconds * 1000}`,
    __from: `${range.from}`,
    __to: `${range.to}`,
  };
}
