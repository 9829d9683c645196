import { css } from '@emotion/css';
import { type GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import { Header } from './Header';
import type { Collected } from './model';
import { Panel } from './Panel';
import type { Prepared } from './prepare';

// Grafana's grid: 24 columns, rows of 30 px, gaps of 8 px.
const width = 1600;
const margin = 16;
const gap = 8;
const column = (width - 2 * margin - 23 * gap) / 24;
const cell = { width: column + gap, height: 30 + gap };

export function Dashboard({ collected, panels }: { collected: Collected; panels: Prepared[] }) {
  const styles = useStyles2(getStyles);
  const rows = Math.max(...panels.map(({ panel: { gridPos } }) => gridPos.y + gridPos.h));
  return (
    <div className={styles.page}>
      <Header collected={collected} />
      <div className={styles.grid} style={{ height: rows * cell.height }}>
        {panels.map((p, i) => {
          const { x, y, w, h } = p.panel.gridPos;
          const size = { width: Math.round(w * cell.width - gap), height: h * cell.height - gap };
          return (
            <div key={i} data-panel className={styles.item} style={{ left: x * cell.width, top: y * cell.height, ...size }}>
              <Panel data={p} collected={collected} {...size} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ width, padding: margin, background: theme.colors.background.canvas }),
  grid: css({ position: 'relative' }),
  item: css({ position: 'absolute' }),
});
