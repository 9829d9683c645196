import { TableCellHeight } from '@grafana/schema';
import { TableNG } from '@grafana/ui/unstable';
import type { PanelProps } from '../Panel';

export function TablePanel({ data, width, height }: PanelProps) {
  const { options } = data.panel;
  return (
    <TableNG
      data={data.frames[0]}
      width={width}
      height={height}
      sortBy={options.sortBy}
      cellHeight={options.cellHeight ?? TableCellHeight.Sm}
      noHeader={options.showHeader === false}
      enableVirtualization={false}
    />
  );
}
