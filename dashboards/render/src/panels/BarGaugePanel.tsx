import { type DisplayValueAlignmentFactors, type FieldDisplay, getDisplayValueAlignmentFactors, getFieldDisplayValues, VizOrientation } from '@grafana/data';
import { BarGauge, BarGaugeDisplayMode, useTheme2, VizRepeater } from '@grafana/ui';
import { withDefaults } from '../fieldConfig';
import type { PanelProps } from '../Panel';

export function BarGaugePanel({ data, width, height }: PanelProps) {
  const theme = useTheme2();
  const { options } = data.panel;
  const values = () =>
    getFieldDisplayValues({
      fieldConfig: withDefaults(data.panel),
      reduceOptions: options.reduceOptions ?? { calcs: ['lastNotNull'] },
      replaceVariables: (s) => s,
      data: data.frames,
      theme,
      timeZone: 'utc',
    });
  return (
    <VizRepeater<FieldDisplay, DisplayValueAlignmentFactors>
      getValues={values}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={({ value, alignmentFactors, orientation, width, height }) => (
        <BarGauge
          value={value.display}
          field={value.field}
          display={value.view?.getFieldDisplayProcessor(value.colIndex ?? 0)}
          alignmentFactors={alignmentFactors}
          orientation={orientation}
          displayMode={options.displayMode ?? BarGaugeDisplayMode.Gradient}
          valueDisplayMode={options.valueMode}
          namePlacement={options.namePlacement}
          showUnfilled={options.showUnfilled ?? true}
          text={options.text}
          itemSpacing={8}
          lcdCellWidth={12}
          width={width}
          height={height}
          theme={theme}
        />
      )}
      width={width}
      height={height}
      source={data}
      itemSpacing={8}
      renderCounter={0}
      minVizWidth={options.minVizWidth ?? 8}
      minVizHeight={options.minVizHeight ?? 16}
      maxVizHeight={options.maxVizHeight ?? 300}
      orientation={options.orientation ?? VizOrientation.Auto}
    />
  );
}
