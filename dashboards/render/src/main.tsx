import '@fontsource/inter/400.css';
import '@fontsource/inter/500.css';
import 'uplot/dist/uPlot.min.css';
import {
  createTheme,
  standardTransformers,
  standardTransformersRegistry,
  ThemeContext,
  type TransformerRegistryItem,
} from '@grafana/data';
import { initPluginTranslations } from '@grafana/i18n';
import { GlobalStyles } from '@grafana/ui';
import { createRoot } from 'react-dom/client';
import { Dashboard } from './Dashboard';
import { prepare } from './prepare';

const theme = createTheme({ colors: { mode: 'dark' } });

// Some have two names in standardTransformers.
const transformers = new Map(Object.values(standardTransformers).map((t) => [t.id, t]));
standardTransformersRegistry.setInit(() =>
  [...transformers.values()].map(
    (transformation) =>
      ({ id: transformation.id, name: transformation.name, transformation: async () => transformation }) as unknown as TransformerRegistryItem,
  ),
);

async function start() {
  await initPluginTranslations('dashboard');
  // The graphs measure and draw text on a canvas, which does not wait for fonts.
  await Promise.all([400, 500].map((weight) => document.fonts.load(`${weight} 12px Inter`)));
  const { collected } = window;
  const panels = await Promise.all(collected.panels.map((p) => prepare(p, collected, theme)));
  createRoot(document.getElementById('root')!).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <Dashboard collected={collected} panels={panels} />
    </ThemeContext.Provider>,
  );
  await settled(panels.length);
  window.drawn = { empty: panels.filter((p) => p.empty).map((p) => p.panel.title) };
}

// Graphs draw on the frame after they are mounted.
async function settled(panels: number) {
  while (document.querySelectorAll('[data-panel]').length < panels) {
    await new Promise(requestAnimationFrame);
  }
  for (let i = 0; i < 10; i++) {
    await new Promise(requestAnimationFrame);
  }
}

start();
