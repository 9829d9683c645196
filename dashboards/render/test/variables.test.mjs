import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveVariables, substitute } from '../lib/variables.mjs';

// Answers label_values() from a table, and remembers what it was asked.
const fake = (answers) => ({
  asked: [],
  async labelValues(label, match) {
    this.asked.push([label, match]);
    return answers[label];
  },
});

const query = (name, text, more) => ({ type: 'query', name, query: { query: text }, ...more });
const list = (...variables) => ({ templating: { list: variables } });

test('a later variable may use an earlier one', async () => {
  const prometheus = fake({ job: ['a', 'b.c'], pipe: ['p'] });
  const resolved = await resolveVariables(
    list(query('job', 'label_values(job)', { includeAll: true, multi: true }), query('pipe', 'label_values(m{job=~"$job"}, pipe)')),
    prometheus,
    {},
    {},
  );
  assert.deepEqual(prometheus.asked, [['job', undefined], ['pipe', String.raw`m{job=~"(a|b\\.c)"}`]]);
  assert.deepEqual(resolved.map((v) => v.text), ['All', 'p']);
});

test('the selection of the dashboard counts as long as it exists', async () => {
  const select = (...value) => query('job', 'label_values(job)', { multi: true, current: { value } });
  const values = async (v) => (await resolveVariables(list(v), fake({ job: ['a', 'b', 'c'] }), {}, {}))[0].values;
  assert.deepEqual(await values(select('b', 'c')), ['b', 'c']);
  assert.deepEqual(await values(select('gone')), ['a']);
});

test('allValue stands for All', async () => {
  const v = query('job', 'label_values(job)', { includeAll: true, allValue: '.*', current: { value: ['$__all'] } });
  const [job] = await resolveVariables(list(v), fake({ job: ['a', 'b'] }), {}, {});
  assert.equal(substitute('x{job=~"$job"}', [job], {}), 'x{job=~".*"}');
});

test('regex picks and filters', async () => {
  const v = query('host', 'label_values(up, instance)', { regex: '/(.*):9090/', includeAll: true });
  const [host] = await resolveVariables(list(v), fake({ instance: ['h1:9090', 'h2:80'] }), {}, {});
  assert.deepEqual(host.values, ['h1']);
});

test('all spellings of a variable', () => {
  const pipe = { name: 'pipe', multi: true, text: 'a + b', values: ['a', 'b'] };
  const put = (s) => substitute(s, [pipe], { __range: '60s' });
  assert.equal(put('$pipe [[pipe]] ${pipe} ${pipe:csv} ${pipe:pipe} ${pipe:text}'), '(a|b) (a|b) (a|b) a,b a|b a + b');
  assert.equal(put('$__range of $unknown'), '60s of $unknown');
});

test('what cannot be resolved is an error, not an empty list', async () => {
  await assert.rejects(resolveVariables(list(query('q', 'query_result(up)')), fake({}), {}, {}), /only label_values/);
  await assert.rejects(resolveVariables(list({ type: 'adhoc', name: 'x' }), fake({}), {}, {}), /adhoc/);
});
