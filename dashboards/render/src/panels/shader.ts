import * as chromatic from 'd3-scale-chromatic';

export interface Shader {
  min: number;
  max: number;
  color: (value: number) => string;
  /** Whether a cell with this value is drawn at all. */
  shows: (value: number | null) => value is number;
}

interface ColorOptions {
  scheme?: string;
  scale?: string;
  exponent?: number;
  reverse?: boolean;
  min?: number;
  max?: number;
}

// These run from dark to light already; the others are made for white paper and are turned round on a dark page.
const darkFirst = new Set(['Turbo', 'Viridis', 'Magma', 'Inferno', 'Plasma', 'Cividis', 'Warm', 'Cool', 'CubehelixDefault']);

/** @param hide values up to this one are not drawn */
export function shader(options: ColorOptions, values: (number | null)[], hide = 1e-9): Shader {
  const scheme = options.scheme ?? 'Oranges';
  const interpolate = (chromatic as unknown as Record<string, (t: number) => string>)[`interpolate${scheme}`];
  if (!interpolate) {
    throw new Error(`colour scheme ${scheme} is not known`);
  }
  const shows = (v: number | null): v is number => v != null && Number.isFinite(v) && v > hide;
  const shown = values.filter(shows);
  const min = options.min ?? 0;
  const max = options.max ?? Math.max(...shown, min);
  const turned = darkFirst.has(scheme) === Boolean(options.reverse);
  const power = options.scale === 'linear' ? 1 : (options.exponent ?? 0.5);
  return {
    min,
    max,
    shows,
    color: (v) => {
      const t = Math.min(1, Math.max(0, (v - min) / (max - min || 1))) ** power;
      return interpolate(turned ? 1 - t : t);
    },
  };
}
