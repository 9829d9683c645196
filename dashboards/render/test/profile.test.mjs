import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Function, Label, Line, Location, Profile, Sample, StringTable, ValueType } from 'pprof-format';
import { flame, matchers } from '../lib/profile.mjs';

// main calls leaf (6, stage run) and other (4, no stage); leaf was inlined into mid.
function profile() {
  const stringTable = new StringTable();
  const s = (text) => stringTable.dedup(text);
  const fn = ['main', 'mid', 'leaf', 'other'].map((name, i) => new Function({ id: i + 1, name: s(name) }));
  const line = (id) => new Line({ functionId: id });
  return new Profile({
    stringTable,
    sampleType: [new ValueType({ type: s('samples'), unit: s('count') }), new ValueType({ type: s('cpu'), unit: s('nanoseconds') })],
    function: fn,
    location: [
      new Location({ id: 1, line: [line(1)] }),
      new Location({ id: 2, line: [line(3), line(2)] }),
      new Location({ id: 3, line: [line(4)] }),
    ],
    sample: [
      new Sample({ locationId: [2, 1], value: [1, 6], label: [new Label({ key: s('autopipe_stage'), str: s('run') })] }),
      new Sample({ locationId: [3, 1], value: [1, 4] }),
    ],
  }).encode();
}

const shape = (graph) => graph.boxes.map((b) => [b.name, b.level, b.start, b.value]);

test('samples fold into boxes, inlined calls included, wider ones first', () => {
  const graph = flame(gzipSync(profile()), 'cpu');
  assert.equal(graph.unit, 'nanoseconds');
  assert.deepEqual(shape(graph), [
    ['total', 0, 0, 10],
    ['main', 1, 0, 10],
    ['mid', 2, 0, 6],
    ['leaf', 3, 0, 6],
    ['other', 2, 6, 4],
  ]);
});

test('a selector picks samples; tags that no sample has are the pusher\'s', () => {
  assert.equal(flame(profile(), 'cpu', matchers('{autopipe_stage="run", service_name="demo"}')).total, 6);
  assert.equal(flame(profile(), 'cpu', matchers('{autopipe_stage!~"r.*"}')).total, 4);
});

test('a sample type that is not there', () => {
  assert.throws(() => flame(profile(), 'inuse_space'), /no samples of type inuse_space/);
});
