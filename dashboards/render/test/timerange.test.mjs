import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layout } from '../lib/layout.mjs';
import { duration } from '../lib/prometheus.mjs';
import { builtins, stepOf, timeRange } from '../lib/timerange.mjs';

const minute = 60_000;

test('durations', () => {
  assert.equal(duration('1m30s'), 90_000);
  assert.equal(duration('500ms'), 500);
  assert.throws(() => duration('soon'), /not a duration/);
});

test('the range is the dashboard\'s, but no longer than there are data', () => {
  const now = 100 * minute;
  const dashboard = { time: { from: 'now-30m', to: 'now' } };
  assert.deepEqual(timeRange(dashboard, now, 0), { from: 70 * minute, to: now });
  assert.deepEqual(timeRange(dashboard, now, 97 * minute), { from: 97 * minute, to: now });
  assert.throws(() => timeRange({ time: { from: '2020-01-01', to: 'now' } }, now, 0), /can be drawn/);
});

test('the step is round, and no finer than the scrapes', () => {
  assert.equal(stepOf({ from: 0, to: 10 * minute }, 600, 1000), 1000);
  assert.equal(stepOf({ from: 0, to: 30 * minute }, 600, 1000), 5000);
  assert.equal(stepOf({ from: 0, to: minute }, 600, 15_000), 15_000);
});

test('$__rate_interval spans four scrapes at least', () => {
  assert.equal(builtins({ from: 0, to: minute }, 1000, 15_000).__rate_interval, '60s');
  assert.equal(builtins({ from: 0, to: minute }, 120_000, 15_000).__rate_interval, '135s');
});

test('a collapsed row is opened and moves the rest down', () => {
  const at = (type, y, h, more) => ({ type, gridPos: { x: 0, y, w: 24, h }, ...more });
  const panels = [at('row', 0, 1, { collapsed: true, panels: [at('stat', 1, 4), at('stat', 5, 2)] }), at('text', 1, 3)];
  assert.deepEqual(layout({ panels }).map((p) => [p.type, p.gridPos.y]), [['row', 0], ['stat', 1], ['stat', 5], ['text', 7]]);
});
