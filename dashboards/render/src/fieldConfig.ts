import { type FieldConfig, FieldConfigOptionsRegistry, type FieldConfigPropertyItem, type FieldConfigSource } from '@grafana/data';
import type { PanelModel } from './model';

/**
 * Inside Grafana each panel plugin registers the field options that it knows. Without plugins, the options that the
 * panel itself sets are the registry: each is taken as it is.
 */
export function registryOf({ defaults, overrides }: FieldConfigSource): FieldConfigOptionsRegistry {
  const standard = Object.keys(defaults).filter((key) => key !== 'custom');
  const custom = Object.keys(defaults.custom ?? {}).map((key) => `custom.${key}`);
  const overridden = overrides.flatMap((rule) => rule.properties.map((p) => p.id));
  const ids = new Set([...standard, ...custom, ...overridden]);
  return new FieldConfigOptionsRegistry(() => [...ids].map(asIs));
}

const asIs = (id: string): FieldConfigPropertyItem => {
  const isCustom = id.startsWith('custom.');
  return {
    id,
    path: isCustom ? id.slice('custom.'.length) : id,
    isCustom,
    name: id,
    description: '',
    process: (value, context) => {
      switch (id) {
        case 'displayName':
          return value && context.replaceVariables ? context.replaceVariables(value, context.field?.state?.scopedVars) : value;
        case 'thresholds':
          return value && openBelow(value);
        default:
          return value;
      }
    },
    shouldApply: () => true,
    // Only Grafana's option editor uses these.
    editor: () => null,
    override: () => null,
  };
};

// JSON has no -Infinity: the lowest threshold is stored as null.
const openBelow = (thresholds: NonNullable<FieldConfig['thresholds']>) => ({
  ...thresholds,
  steps: thresholds.steps.map((s) => ({ ...s, value: s.value ?? -Infinity })),
});

const thresholds = { mode: 'absolute', steps: [{ value: null, color: 'green' }, { value: 80, color: 'red' }] };

/** What Grafana's panel types assume when the dashboard says nothing. */
export function withDefaults(panel: PanelModel): FieldConfigSource {
  const { defaults = {}, overrides = [] } = panel.fieldConfig ?? {};
  const graph = panel.type === 'timeseries';
  const custom = graph ? { drawStyle: 'line', lineWidth: 1, fillOpacity: 0, pointSize: 5, showPoints: 'auto', ...defaults.custom } : defaults.custom;
  return {
    defaults: {
      color: { mode: graph ? 'palette-classic' : 'thresholds' },
      thresholds,
      ...defaults,
      ...(custom && { custom }),
    } as FieldConfig,
    overrides,
  };
}
