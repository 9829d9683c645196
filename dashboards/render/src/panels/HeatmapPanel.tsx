import { css } from '@emotion/css';
import { formattedValueToString, getValueFormat, type GrafanaTheme2 } from '@grafana/data';
import { AxisPlacement, ScaleDirection, ScaleOrientation } from '@grafana/schema';
import { UPlotChart, UPlotConfigBuilder, useStyles2, useTheme2 } from '@grafana/ui';
import { useMemo } from 'react';
import type { PanelProps } from '../Panel';
import { bucketsOf, type Buckets } from './buckets';
import { shader, type Shader } from './shader';

const legendHeight = 30;

/** One column per step, one row per bucket; the colour tells how many fell into the bucket. */
export function HeatmapPanel({ data, collected, width, height }: PanelProps) {
  const theme = useTheme2();
  const { options, fieldConfig } = data.panel;
  const buckets = useMemo(() => bucketsOf(data.frames), [data.frames]);
  const shade = useMemo(() => shader(options.color ?? {}, buckets.cells.flat(), options.filterValues?.le), [options, buckets]);
  const format = getValueFormat(options.yAxis?.unit ?? fieldConfig?.defaults?.unit ?? 'short');
  const label = (row: number) => rowLabel(buckets.rows[row], (v) => formattedValueToString(format(v, options.yAxis?.decimals)));
  const showLegend = options.legend?.show !== false;
  const chartHeight = height - (showLegend ? legendHeight : 0);
  const config = useMemo(() => build(buckets, shade, label, collected.range, theme, options.cellGap ?? 1, chartHeight), [buckets, shade]);
  return (
    <div>
      <UPlotChart config={config} data={[buckets.times, buckets.times.map(() => null)]} width={width} height={chartHeight} />
      {showLegend && <Legend shade={shade} />}
    </div>
  );
}

const rowLabel = (row: string | undefined, format: (v: number) => string) => {
  const bound = Number(row);
  return row === undefined || row === '+Inf' ? '+Inf' : Number.isNaN(bound) ? row : format(bound);
};

function build(
  buckets: Buckets,
  shade: Shader,
  label: (row: number) => string,
  range: { from: number; to: number },
  theme: GrafanaTheme2,
  gap: number,
  height: number,
) {
  const rows = buckets.rows.length;
  const every = Math.max(1, Math.ceil((rows * 16) / (height - 40)));
  // A bucket is named by its upper bound, so the name stands at the upper edge of its row.
  const splits = buckets.rows.map((_, row) => row).filter((row) => (rows - 1 - row) % every === 0);
  const builder = new UPlotConfigBuilder('utc');
  builder.addScale({ scaleKey: 'x', isTime: true, orientation: ScaleOrientation.Horizontal, direction: ScaleDirection.Right, range: () => [range.from, range.to] });
  builder.addScale({ scaleKey: 'y', isTime: false, orientation: ScaleOrientation.Vertical, direction: ScaleDirection.Up, range: () => [0, rows] });
  builder.addAxis({ scaleKey: 'x', isTime: true, placement: AxisPlacement.Bottom, timeZone: 'utc', theme, grid: { show: false } });
  builder.addAxis({
    scaleKey: 'y',
    placement: AxisPlacement.Left,
    theme,
    grid: { show: false },
    splits: splits.map((row) => row + 1),
    values: splits.map(label),
  });
  builder.setPadding([null, 20, null, null]); // as in the graphs: room for the last label of the time axis
  builder.addSeries({ scaleKey: 'y', theme, show: false });
  builder.addHook('drawClear', (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    buckets.times.forEach((t, i) => {
      const left = Math.round(u.valToPos(t - buckets.step, 'x', true));
      const right = Math.round(u.valToPos(t, 'x', true));
      buckets.cells[i].forEach((v, row) => {
        if (shade.shows(v)) {
          const top = Math.round(u.valToPos(row + 1, 'y', true));
          const bottom = Math.round(u.valToPos(row, 'y', true));
          ctx.fillStyle = shade.color(v);
          ctx.fillRect(left, top, Math.max(1, right - left - gap), Math.max(1, bottom - top - gap));
        }
      });
    });
    ctx.restore();
  });
  return builder;
}

function Legend({ shade }: { shade: Shader }) {
  const styles = useStyles2(getStyles);
  const short = (v: number) => formattedValueToString(getValueFormat('short')(v));
  const stops = Array.from({ length: 21 }, (_, i) => shade.color(shade.min + ((shade.max - shade.min) * i) / 20));
  return (
    <div className={styles.legend}>
      {short(shade.min)}
      <div className={styles.scale} style={{ background: `linear-gradient(90deg, ${stops.join(',')})` }} />
      {short(shade.max)}
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  legend: css({ ...theme.typography.bodySmall, height: legendHeight, display: 'flex', alignItems: 'center', gap: 8, paddingLeft: 8 }),
  scale: css({ width: 240, height: 8, borderRadius: 2 }),
});
