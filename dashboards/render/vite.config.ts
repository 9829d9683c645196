import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { grafanaIcons } from './lib/icons.mjs';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  plugins: [grafanaIcons(here('node_modules/@grafana/ui/dist/public/img/icons'))],
  resolve: {
    alias: {
      // It reaches for React internals that React 19 no longer has; a picture does not scroll.
      'react-custom-scrollbars-2': here('src/scrollbars.tsx'),
    },
  },
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    chunkSizeWarningLimit: 20_000,
    reportCompressedSize: false,
    rolldownOptions: {
      // "use client" means something to server rendering only.
      onwarn: (warning, report) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || report(warning),
    },
  },
});
