import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { Icon, useStyles2, useTheme2 } from '@grafana/ui';
import type { Collected } from './model';

/** Title, variables, annotations in force and the time range. */
export function Header({ collected }: { collected: Collected }) {
  const styles = useStyles2(getStyles);
  const theme = useTheme2();
  const { range, variables, annotations } = collected;
  const time = (t: number, format: string) => dateTimeFormat(t, { format, timeZone: 'utc' });
  return (
    <header className={styles.header}>
      <div className={styles.line}>
        <h1 className={styles.title}>{collected.title}</h1>
        {collected.tags.map((tag) => (
          <span key={tag} className={styles.tag}>
            {tag}
          </span>
        ))}
        <span className={styles.time}>
          <Icon name="clock-nine" /> {time(range.from, 'YYYY-MM-DD HH:mm:ss')} to {time(range.to, 'HH:mm:ss')} UTC
        </span>
      </div>
      <div className={styles.line}>
        {variables
          .filter((v) => !v.hide)
          .map((v) => (
            <span key={v.name} className={styles.variable}>
              <span className={styles.label}>{v.label}</span>
              <span className={styles.value}>{v.text || '–'}</span>
            </span>
          ))}
        {annotations.map((a) => (
          <span key={a.name} className={styles.annotation}>
            <i className={styles.dot} style={{ background: theme.visualization.getColorByName(a.color) }} />
            {a.name}
          </span>
        ))}
      </div>
    </header>
  );
}

const getStyles = (theme: GrafanaTheme2) => {
  const box = {
    padding: '5px 8px',
    border: `1px solid ${theme.colors.border.weak}`,
    background: theme.colors.background.primary,
  };
  return {
    header: css({ display: 'flex', flexDirection: 'column', gap: 10, marginBottom: 12 }),
    line: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: 8 }),
    title: css({ ...theme.typography.h4, margin: 0 }),
    tag: css({ ...theme.typography.bodySmall, padding: '1px 6px', borderRadius: 3, background: theme.colors.background.secondary }),
    time: css({ ...box, marginLeft: 'auto', borderRadius: 2, display: 'flex', alignItems: 'center', gap: 6 }),
    variable: css({ ...theme.typography.bodySmall, display: 'flex' }),
    label: css({ ...box, borderRight: 'none', color: theme.colors.text.secondary }),
    value: css({ ...box, maxWidth: 320, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }),
    annotation: css({ ...theme.typography.bodySmall, display: 'flex', alignItems: 'center', gap: 6, marginLeft: 8 }),
    dot: css({ width: 8, height: 8, borderRadius: '50%' }),
  };
};
