#!/usr/bin/env node
// Draws every dashboard of a folder to PNG; exits with 1 if a panel has no data. See README.md.

import { mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { withBrowser } from './lib/browser.mjs';
import { collect } from './lib/collect.mjs';
import { Prometheus } from './lib/prometheus.mjs';

const root = import.meta.dirname;
const { values: flags } = parseArgs({
  options: {
    dashboards: { type: 'string', default: join(root, '..') },
    out: { type: 'string', default: join(root, '../shots') },
    only: { type: 'string', default: '' }, // part of a file's name
  },
});

const base = process.env.PROMETHEUS_URL;
if (!base) {
  console.error('PROMETHEUS_URL must be the address of a Prometheus that scrapes the demo');
  process.exit(2);
}

const files = await dashboardsIn(flags.dashboards);
if (files.length === 0) {
  console.error(`no dashboard in ${resolve(flags.dashboards)}`);
  process.exit(2);
}
await mkdir(flags.out, { recursive: true });

const faults = [];
await withBrowser(root, async (draw) => {
  for (const { name, dashboard } of files) {
    const options = { profiles: process.env.DEMO_METRICS_URL, now: Date.now() };
    const collected = await collect(dashboard, new Prometheus(base), options);
    const empty = await draw(collected, join(flags.out, `${name}.png`));
    for (const { panel, answers, errors } of collected.panels) {
      const silent = answers.filter((a) => a.result.length === 0).map((a) => `${a.refId}: no data`);
      faults.push(...[...errors, ...silent].map((text) => `${name}: ${panel.title}: ${text}`));
    }
    faults.push(...empty.map((title) => `${name}: ${title}: the panel shows no data`));
    const panels = collected.panels.filter((p) => p.panel.type !== 'row').length;
    console.log(`${name}.png: ${panels} panels, ${empty.length} without data`);
  }
});
faults.forEach((f) => console.error(f));
process.exitCode = faults.length > 0 ? 1 : 0;

/** Every file that is a dashboard, named as its picture: autopipe-overview.json becomes overview. */
async function dashboardsIn(folder) {
  const found = [];
  for (const file of (await readdir(folder)).filter((f) => f.endsWith('.json') && f.includes(flags.only)).sort()) {
    const dashboard = JSON.parse(await readFile(join(folder, file), 'utf8'));
    if (Array.isArray(dashboard.panels)) {
      found.push({ name: basename(file, '.json').replace(/^autopipe-/, ''), dashboard });
    }
  }
  return found;
}
