import { css } from '@emotion/css';
import { formattedValueToString, getValueFormat, type GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import type { Flame } from '../model';
import type { PanelProps } from '../Panel';

const rowHeight = 19;
const units: Record<string, string> = { nanoseconds: 'ns', bytes: 'bytes', count: 'short' };

/** The profile with the root on top, each box as wide as its share. */
export function FlameGraphPanel({ data, width, height }: PanelProps) {
  const styles = useStyles2(getStyles);
  const { flame } = data;
  if (!flame || flame.total === 0) {
    return <div className={styles.none}>Flame graphs come from Pyroscope, which was not running when this picture was made.</div>;
  }
  return <Boxes flame={flame} width={width} height={height} />;
}

function Boxes({ flame, width, height }: { flame: Flame; width: number; height: number }) {
  const styles = useStyles2(getStyles);
  const format = (v: number) => formattedValueToString(getValueFormat(units[flame.unit] ?? 'short')(v));
  const scale = width / flame.total;
  const seen = flame.boxes.filter((b) => b.value * scale >= 2 && (b.level + 1) * rowHeight <= height);
  return (
    <div style={{ position: 'relative', width, height, overflow: 'hidden' }}>
      {seen.map((b, i) => {
        const share = `${((100 * b.value) / flame.total).toFixed(1)} %`;
        const place = { left: b.start * scale, top: b.level * rowHeight, width: b.value * scale - 1, height: rowHeight - 1 };
        return (
          <div key={i} className={styles.box} style={{ ...place, background: color(b.name) }}>
            {place.width > 30 ? `${short(b.name)} (${share}, ${format(b.value)})` : ''}
          </div>
        );
      })}
    </div>
  );
}

// github.com/redis/go-redis/v9/internal/pool.(*Conn).Write reads better as pool.(*Conn).Write.
const short = (name: string) => name.slice(name.lastIndexOf('/', name.indexOf('(') < 0 ? undefined : name.indexOf('(')) + 1);

// One colour per package, all light enough for dark text.
function color(name: string) {
  const hash = [...short(name).split('.')[0]].reduce((h, c) => Math.imul(h, 31) + c.charCodeAt(0), 7);
  return `hsl(${Math.abs(hash) % 360} 55% 65%)`;
}

const getStyles = (theme: GrafanaTheme2) => ({
  none: css({ display: 'flex', height: '100%', alignItems: 'center', justifyContent: 'center', color: theme.colors.text.secondary }),
  box: css({ position: 'absolute', padding: '0 4px', fontSize: 11, lineHeight: `${rowHeight - 1}px`, color: '#111', overflow: 'hidden', whiteSpace: 'nowrap', textOverflow: 'ellipsis' }),
});
