import { type FieldDisplay, getDisplayValueAlignmentFactors, getFieldDisplayValues, VizOrientation } from '@grafana/data';
import { BigValue, BigValueColorMode, BigValueGraphMode, BigValueJustifyMode, BigValueTextMode, useTheme2, VizRepeater } from '@grafana/ui';
import type { PanelProps } from '../Panel';
import { withDefaults } from '../fieldConfig';

export function StatPanel({ data, width, height }: PanelProps) {
  const theme = useTheme2();
  const { options } = data.panel;
  const graphMode = options.graphMode ?? BigValueGraphMode.Area;
  const values = () =>
    getFieldDisplayValues({
      fieldConfig: withDefaults(data.panel),
      reduceOptions: options.reduceOptions ?? { calcs: ['lastNotNull'] },
      replaceVariables: (s) => s,
      data: data.frames,
      sparkline: graphMode !== BigValueGraphMode.None,
      theme,
      timeZone: 'utc',
    });
  return (
    <VizRepeater<FieldDisplay, ReturnType<typeof getDisplayValueAlignmentFactors>>
      getValues={values}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={({ value, alignmentFactors, width, height, count }) => (
        <BigValue
          value={value.display}
          count={count}
          sparkline={value.sparkline}
          colorMode={options.colorMode ?? BigValueColorMode.Value}
          graphMode={graphMode}
          justifyMode={options.justifyMode ?? BigValueJustifyMode.Auto}
          textMode={options.textMode ?? BigValueTextMode.Auto}
          alignmentFactors={alignmentFactors}
          text={options.text}
          disableWideLayout={options.wideLayout === false}
          width={width}
          height={height}
          theme={theme}
        />
      )}
      width={width}
      height={height}
      source={data}
      itemSpacing={3}
      renderCounter={0}
      autoGrid
      orientation={options.orientation ?? VizOrientation.Auto}
    />
  );
}
