import { css } from '@emotion/css';
import { type GrafanaTheme2 } from '@grafana/data';
import { Icon, PanelChrome, useStyles2 } from '@grafana/ui';
import type { ComponentType } from 'react';
import type { Collected } from './model';
import { BarGaugePanel } from './panels/BarGaugePanel';
import { FlameGraphPanel } from './panels/FlameGraphPanel';
import { HeatmapPanel } from './panels/HeatmapPanel';
import { StatPanel } from './panels/StatPanel';
import { TablePanel } from './panels/TablePanel';
import { TextPanel } from './panels/TextPanel';
import { TimeSeriesPanel } from './panels/TimeSeriesPanel';
import type { Prepared } from './prepare';

export interface PanelProps {
  data: Prepared;
  collected: Collected;
  width: number;
  height: number;
}

const types: Record<string, ComponentType<PanelProps>> = {
  bargauge: BarGaugePanel,
  flamegraph: FlameGraphPanel,
  heatmap: HeatmapPanel,
  stat: StatPanel,
  table: TablePanel,
  text: TextPanel,
  timeseries: TimeSeriesPanel,
};

export function Panel({ data, collected, width, height }: PanelProps) {
  const { panel } = data;
  if (panel.type === 'row') {
    return <Row title={panel.title} />;
  }
  const Body = types[panel.type];
  if (!Body) {
    throw new Error(`panel "${panel.title}": type ${panel.type} cannot be drawn`);
  }
  return (
    <PanelChrome
      title={panel.title}
      description={panel.description}
      width={width}
      height={height}
      padding={panel.type === 'table' ? 'none' : 'md'}
      displayMode={panel.transparent ? 'transparent' : 'default'}
    >
      {(innerWidth, innerHeight) =>
        data.empty ? <NoData errors={data.errors} /> : <Body data={data} collected={collected} width={innerWidth} height={innerHeight} />
      }
    </PanelChrome>
  );
}

function Row({ title }: { title: string }) {
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.row}>
      <Icon name="angle-down" /> {title}
    </div>
  );
}

function NoData({ errors }: { errors: string[] }) {
  const styles = useStyles2(getStyles);
  return <div className={styles.empty}>{errors.length > 0 ? errors.join('\n') : 'No data'}</div>;
}

const getStyles = (theme: GrafanaTheme2) => ({
  row: css({ display: 'flex', alignItems: 'center', gap: 6, height: '100%', fontWeight: theme.typography.fontWeightMedium }),
  empty: css({
    display: 'flex',
    alignItems: 'center',
    justifyContent: 'center',
    height: '100%',
    whiteSpace: 'pre-wrap',
    color: theme.colors.error.text,
    fontSize: theme.typography.h4.fontSize,
  }),
});
