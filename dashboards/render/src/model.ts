import type { FieldConfigSource } from '@grafana/data';
import type { Answer } from '../lib/frames.mjs';
import type { Variable } from '../lib/variables.mjs';

/** What lib/collect.mjs hands to the page. */
export interface Collected {
  title: string;
  tags: string[];
  links: { title: string }[];
  range: { from: number; to: number };
  variables: Variable[];
  builtin: Record<string, string>;
  annotations: Annotation[];
  panels: PanelData[];
}

export interface Annotation {
  name: string;
  color: string;
  times: number[];
}

export interface PanelData {
  panel: PanelModel;
  answers: Answer[];
  errors: string[];
  flame?: Flame;
}

export interface PanelModel {
  id: number;
  type: string;
  title: string;
  description?: string;
  transparent?: boolean;
  gridPos: { x: number; y: number; w: number; h: number };
  // The options are those of the panel's type; each panel component reads its own.
  options: any;
  fieldConfig: FieldConfigSource;
  transformations?: { id: string; options: any; disabled?: boolean }[];
}

export interface Flame {
  unit: string;
  total: number;
  boxes: { name: string; level: number; start: number; value: number }[];
}

declare global {
  interface Window {
    collected: Collected;
    /** Set when all panels are on the page. */
    drawn?: { empty: string[] };
  }
}
