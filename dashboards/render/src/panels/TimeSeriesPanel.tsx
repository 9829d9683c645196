import { dateTime, type GrafanaTheme2 } from '@grafana/data';
import { LegendDisplayMode, TimeSeries, useTheme2, type UPlotConfigBuilder } from '@grafana/ui';
import type { Annotation, Collected } from '../model';
import type { PanelProps } from '../Panel';

export function TimeSeriesPanel({ data, collected, width, height }: PanelProps) {
  const theme = useTheme2();
  const legend = { displayMode: LegendDisplayMode.List, placement: 'bottom', calcs: [], showLegend: true, ...data.panel.options.legend };
  return (
    <TimeSeries frames={data.frames} width={width} height={height} timeRange={toTimeRange(collected)} timeZone="utc" legend={legend} options={data.panel.options}>
      {(builder) => {
        builder.setPadding([null, 20, null, null]); // room for the last label of the time axis
        drawAnnotations(builder, collected.annotations, theme);
        return null;
      }}
    </TimeSeries>
  );
}

function toTimeRange({ range }: Collected) {
  const [from, to] = [dateTime(range.from), dateTime(range.to)];
  return { from, to, raw: { from, to } };
}

// Grafana's mark of an annotation: a dashed line with a small triangle at its foot.
function drawAnnotations(builder: UPlotConfigBuilder, annotations: Annotation[], theme: GrafanaTheme2) {
  builder.addHook('draw', (u) => {
    const { ctx, bbox } = u;
    const foot = bbox.top + bbox.height;
    ctx.save();
    ctx.setLineDash([4, 4]);
    for (const a of annotations) {
      ctx.strokeStyle = ctx.fillStyle = theme.visualization.getColorByName(a.color);
      for (const t of a.times) {
        const x = Math.round(u.valToPos(t, 'x', true));
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, foot);
        ctx.stroke();
        ctx.beginPath();
        ctx.moveTo(x, foot - 1);
        ctx.lineTo(x - 5, foot + 6);
        ctx.lineTo(x + 5, foot + 6);
        ctx.fill();
      }
    }
    ctx.restore();
  });
}
