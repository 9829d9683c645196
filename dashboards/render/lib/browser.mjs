// Draws collected dashboards in a headless Chromium.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { build, preview } from 'vite';
import { shrink } from './png.mjs';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

function chromiumPath() {
  const path = process.env.CHROMIUM ?? places.find((p) => existsSync(p));
  if (!path) {
    throw new Error('chromium is needed: apt-get install -y chromium (or set CHROMIUM)');
  }
  return path;
}

// A build takes both cores for seconds, which the demo load's graphs would show: `npm run build` does it beforehand.
async function buildIfStale(root) {
  const built = join(root, 'dist/index.html');
  const changed = (path) => statSync(path).mtimeMs;
  const inside = (folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(root, folder, file));
  const single = ['index.html', 'package-lock.json', 'vite.config.ts'].map((file) => join(root, file));
  const newest = Math.max(...[...single, ...inside('src'), ...inside('lib')].map(changed));
  if (!existsSync(built) || changed(built) < newest) {
    await build({ root, logLevel: 'warn' });
  }
}

/** Builds and serves the page, opens a browser, and gives `use` a function that draws one dashboard. */
export async function withBrowser(root, use) {
  const executablePath = chromiumPath();
  await buildIfStale(root);
  // Root, as in a container, has no sandbox; the page is our own.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--font-render-hinting=none'] });
  const server = await preview({ root, logLevel: 'warn', preview: { host: '127.0.0.1', port: 0 } });
  try {
    const address = server.httpServer.address();
    await use((collected, file) => draw(browser, `http://127.0.0.1:${address.port}/`, collected, file));
  } finally {
    await browser.close();
    await server.close();
  }
}

/** @returns {Promise<string[]>} the titles of panels without data */
async function draw(browser, url, collected, file) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, deviceScaleFactor: 1, timezoneId: 'UTC' });
  const broken = new Promise((_, reject) => page.on('pageerror', reject));
  try {
    return await Promise.race([broken, shoot(page, url, collected, file)]);
  } finally {
    await page.close();
  }
}

async function shoot(page, url, collected, file) {
  await page.addInitScript((data) => { window.collected = data; }, collected);
  await page.goto(url);
  await page.waitForFunction(() => window.drawn !== undefined);
  // Icons and fonts load after the panels ask for them.
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  await writeFile(file, shrink(await page.screenshot({ fullPage: true })));
  return page.evaluate(() => window.drawn.empty);
}
