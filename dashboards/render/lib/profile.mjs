// A flame graph without Pyroscope: the profile comes from the process itself, through /debug/pprof.

import { gunzipSync } from 'node:zlib';
import { Profile } from 'pprof-format';
import { substitute } from './variables.mjs';

const seconds = 5;

// Pyroscope's profile types, and where net/http/pprof serves the same with which sample type.
const sources = {
  'process_cpu:cpu': [`profile?seconds=${seconds}`, 'cpu'],
  'memory:alloc_objects': ['allocs', 'alloc_objects'],
  'memory:alloc_space': ['allocs', 'alloc_space'],
  'memory:inuse_objects': ['heap', 'inuse_objects'],
  'memory:inuse_space': ['heap', 'inuse_space'],
  'goroutines:goroutine': ['goroutine', 'goroutine'],
  'goroutine:goroutine': ['goroutine', 'goroutine'],
};

/** @returns {Promise<object|undefined>} the graph of the panel's first target; undefined if no process is given */
export async function flameGraph(panel, { profiles, variables }) {
  if (!profiles) {
    return undefined;
  }
  const target = panel.targets?.[0] ?? {};
  const [, kind, sample] = /^([a-z_]+):([a-z_]+):/.exec(target.profileTypeId ?? '') ?? [, 'process_cpu', 'cpu'];
  const source = sources[`${kind}:${sample}`];
  if (!source) {
    throw new Error(`profile type ${target.profileTypeId} is not known`);
  }
  const [path, type] = source;
  const answer = await fetch(new URL(`/debug/pprof/${path}`, profiles), { signal: AbortSignal.timeout(30_000) });
  if (!answer.ok) {
    throw new Error(`profile ${path}: HTTP ${answer.status}`);
  }
  const selector = substitute(target.labelSelector ?? '{}', variables, {});
  return flame(Buffer.from(await answer.arrayBuffer()), type, matchers(selector));
}

/** The matchers of a selector such as {a="b", c=~"d|e"}. */
export function matchers(selector) {
  return [...selector.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)].map(([, key, op, value]) => {
    const re = op.endsWith('~') ? new RegExp(`^(?:${value})$`) : undefined;
    const equal = (s) => (re ? re.test(s) : s === value);
    return { key, test: op.startsWith('!') ? (s) => !equal(s) : equal };
  });
}

/**
 * Folds the samples of a pprof profile into the boxes of a flame graph.
 * @returns {{unit: string, total: number, boxes: {name: string, level: number, start: number, value: number}[]}}
 */
export function flame(bytes, type, wanted = []) {
  const profile = Profile.decode(bytes[0] === 0x1f ? gunzipSync(bytes) : bytes);
  const text = (i) => profile.stringTable.strings[Number(i)];
  const column = profile.sampleType.findIndex((t) => text(t.type) === type);
  if (column < 0) {
    throw new Error(`the profile has no samples of type ${type}`);
  }
  const names = new Map(profile.function.map((f) => [Number(f.id), text(f.name)]));
  const frames = new Map(profile.location.map((l) => [Number(l.id), l.line.map((x) => names.get(Number(x.functionId)))]));
  const labels = profile.sample.map((s) => new Map(s.label.map((l) => [text(l.key), text(l.str)])));
  // Tags that Pyroscope's client adds when it pushes, such as service_name, are in no sample of the process.
  const present = wanted.filter((m) => labels.some((l) => l.has(m.key)));

  const root = { name: 'total', value: 0, children: new Map() };
  profile.sample.forEach((s, i) => {
    const value = Number(s.value[column]);
    if (value === 0 || !present.every((m) => m.test(labels[i].get(m.key) ?? ''))) {
      return;
    }
    root.value += value;
    let node = root;
    // Locations run from leaf to root, and so do the lines of one: the innermost inlined call first.
    for (const name of s.locationId.flatMap((id) => frames.get(Number(id)) ?? []).reverse()) {
      const child = node.children.get(name) ?? { name, value: 0, children: new Map() };
      node.children.set(name, child);
      child.value += value;
      node = child;
    }
  });
  return { unit: text(profile.sampleType[column].unit), total: root.value, boxes: boxes(root, 0, 0) };
}

function boxes(node, level, start) {
  const out = [{ name: node.name, level, start, value: node.value }];
  let at = start;
  for (const child of [...node.children.values()].sort((a, b) => b.value - a.value)) {
    out.push(...boxes(child, level + 1, at));
    at += child.value;
  }
  return out;
}
