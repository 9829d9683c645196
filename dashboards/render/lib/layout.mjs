// The panels of a dashboard in the order and at the places where they are drawn.

/**
 * Opens collapsed rows, since a picture cannot be clicked, and moves what is below them down.
 * @returns {object[]} panels, rows included, without nesting
 */
export function layout(dashboard) {
  const flat = [];
  let shift = 0;
  for (const panel of dashboard.panels ?? []) {
    if (panel.repeat) {
      throw new Error(`panel ${panel.title}: repetition (for each ${panel.repeat}) cannot be drawn`);
    }
    flat.push(moved(panel, shift));
    if (panel.type !== 'row' || !panel.collapsed) {
      continue;
    }
    const below = panel.gridPos.y + panel.gridPos.h;
    const inner = panel.panels ?? [];
    const top = Math.min(...inner.map((p) => p.gridPos.y));
    const bottom = Math.max(...inner.map((p) => p.gridPos.y + p.gridPos.h));
    if (inner.length > 0) {
      flat.push(...inner.map((p) => moved(p, shift + below - top)));
      shift += bottom - top;
    }
  }
  return flat;
}

const moved = (panel, by) => ({ ...panel, gridPos: { ...panel.gridPos, y: panel.gridPos.y + by } });

/** Panels that show no time series: nothing is asked for them, and they cannot lack data. */
export const withoutQueries = new Set(['row', 'text', 'flamegraph']);
