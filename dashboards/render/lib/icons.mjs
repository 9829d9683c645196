import { cpSync } from 'node:fs';
import { join } from 'node:path';

/** A Vite plugin that puts the icons of @grafana/ui where its components fetch them at run time. */
export function grafanaIcons(from) {
  let outDir;
  return {
    name: 'grafana-icons',
    configResolved(config) {
      outDir = join(config.root, config.build.outDir);
    },
    closeBundle() {
      cpSync(from, join(outDir, 'build/img/icons'), { recursive: true });
    },
  };
}
