import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seriesName, toFrames } from '../lib/frames.mjs';

const answer = (more) => ({ refId: 'A', format: 'time_series', legend: '', step: 1000, ...more });
const column = (frame, name) => frame.fields.find((f) => f.name === name).values;

test('legends', () => {
  const metric = { __name__: 'm', pipe: 'p', reason: 'size' };
  assert.equal(seriesName('{{pipe}}: {{ reason }}{{gone}}', metric), 'p: size');
  assert.equal(seriesName('', metric), 'm{pipe="p", reason="size"}');
  assert.equal(seriesName('', { __name__: 'm' }), 'm');
  assert.equal(seriesName('__auto', metric), undefined);
});

test('a series keeps infinities and has gaps for NaN', () => {
  const [frame] = toFrames([answer({ result: [{ metric: {}, values: [[1, '2'], [2, 'NaN'], [3, '+Inf']] }] })]);
  assert.deepEqual(column(frame, 'Time'), [1000, 2000, 3000]);
  assert.deepEqual(column(frame, 'Value'), [2, null, Infinity]);
});

test('a missing point breaks the line', () => {
  const [frame] = toFrames([answer({ result: [{ metric: {}, values: [[1, '1'], [2, '2'], [5, '5']] }] })]);
  assert.deepEqual(column(frame, 'Time'), [1000, 2000, 3000, 5000]);
  assert.deepEqual(column(frame, 'Value'), [1, 2, null, 5]);
});

test('tables: a column per label, and the query in the name of the value where there are several', () => {
  const table = (refId, v) => answer({ refId, format: 'table', result: [{ metric: { pipe: 'p' }, value: [1, v] }, { metric: { node: 'n' }, value: [1, '0'] }] });
  const [a, b] = toFrames([table('A', '1'), table('B', '2')]);
  assert.deepEqual(column(a, 'pipe'), ['p', '']);
  assert.deepEqual(column(a, 'node'), ['', 'n']);
  assert.deepEqual(column(a, 'Value #A'), [1, 0]);
  assert.deepEqual(column(b, 'Value #B'), [2, 0]);
  assert.deepEqual(column(toFrames([table('A', '1')])[0], 'Value'), [1, 0]);
});

test('a heatmap has buckets in numeric order, not cumulative', () => {
  const bucket = (le, v) => ({ metric: { le }, values: [[1, v]] });
  const [frame] = toFrames([answer({ format: 'heatmap', result: [bucket('+Inf', '9'), bucket('10', '7'), bucket('2', '3')] })]);
  assert.deepEqual(frame.fields.slice(1).map((f) => [f.name, f.values[0]]), [['2', 3], ['10', 4], ['+Inf', 2]]);
});

test('no result, no frame', () => {
  assert.deepEqual(toFrames([answer({ result: [] }), answer({ format: 'table', result: [] }), answer({ format: 'heatmap', result: [] })]), []);
});
