import {
  applyFieldOverrides,
  cacheFieldDisplayNames,
  FieldType,
  type DataFrame,
  type DataTransformerConfig,
  type GrafanaTheme2,
  type ScopedVars,
  toDataFrame,
  transformDataFrame,
} from '@grafana/data';
import { lastValueFrom } from 'rxjs';
import { toFrames } from '../lib/frames.mjs';
import { withoutQueries } from '../lib/layout.mjs';
import { substitute } from '../lib/variables.mjs';
import { registryOf, withDefaults } from './fieldConfig';
import type { Collected, PanelData } from './model';

export interface Prepared extends PanelData {
  frames: DataFrame[];
  /** No frame has a value: the panel says "No data". */
  empty: boolean;
}

/** Turns the answers of a panel into frames with the panel's transformations and field options applied. */
export async function prepare(data: PanelData, collected: Collected, theme: GrafanaTheme2): Promise<Prepared> {
  const { panel, answers } = data;
  if (withoutQueries.has(panel.type)) {
    return { ...data, frames: [], empty: false };
  }
  const raw = toFrames(answers).map((f) => ({ ...toDataFrame(f), meta: f.meta as DataFrame['meta'] }));
  const transformations = (panel.transformations ?? []).filter((t) => !t.disabled) as DataTransformerConfig[];
  const context = { interpolate: (s: string) => substitute(s, collected.variables, collected.builtin) };
  const transformed = await lastValueFrom(transformDataFrame(transformations, raw, context));
  const fieldConfig = withDefaults(panel);
  const frames = applyFieldOverrides({
    data: transformed,
    fieldConfig,
    fieldConfigRegistry: registryOf(fieldConfig),
    replaceVariables: (text, scoped) => substitute(fieldVariables(text, scoped), collected.variables, collected.builtin),
    theme,
    timeZone: 'utc',
  });
  cacheFieldDisplayNames(frames);
  return { ...data, frames, empty: !frames.some(hasValue) };
}

// ${__field.labels.pipe} and its like in a displayName.
function fieldVariables(text: string, scoped?: ScopedVars) {
  const field = scoped?.__dataContext?.value?.field;
  return text.replace(/\$\{__field\.(name|labels\.(\w+))\}/g, (whole, path, label) =>
    field ? (path === 'name' ? field.name : (field.labels?.[label] ?? '')) : whole,
  );
}

function hasValue(frame: DataFrame) {
  return frame.fields.some((f) => f.type === FieldType.number && f.values.some((v) => v != null && !Number.isNaN(v)));
}
