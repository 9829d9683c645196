import { type DataFrame, FieldType, getFieldDisplayName, outerJoinDataFrames } from '@grafana/data';

export interface Buckets {
  /** End of each column, ms. */
  times: number[];
  /** Width of a column, ms. */
  step: number;
  /** Names of the buckets from low to high. */
  rows: string[];
  /** cells[column][row] */
  cells: (number | null)[][];
}

/** Every number field of the frames is a row: either the fields of one bucket frame, or one series per bucket. */
export function bucketsOf(frames: DataFrame[]): Buckets {
  const frame = frames.length === 1 ? frames[0] : outerJoinDataFrames({ frames })!;
  const time = frame.fields.find((f) => f.type === FieldType.time)!;
  const fields = frame.fields.filter((f) => f.type === FieldType.number);
  const times = [...time.values] as number[];
  const gaps = times.slice(1).map((t, i) => t - times[i]);
  return {
    times,
    step: time.config.interval ?? Math.min(...gaps),
    rows: fields.map((f) => getFieldDisplayName(f, frame, frames)),
    cells: times.map((_, i) => fields.map((f) => f.values[i] ?? null)),
  };
}
