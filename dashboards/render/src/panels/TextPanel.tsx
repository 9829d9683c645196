import { renderTextPanelMarkdown } from '@grafana/data';
import type { PanelProps } from '../Panel';

export function TextPanel({ data, height }: PanelProps) {
  const { mode = 'markdown', content = '' } = data.panel.options;
  if (mode !== 'markdown') {
    throw new Error(`text panel "${data.panel.title}": mode ${mode} cannot be drawn`);
  }
  return <div className="markdown-html" style={{ height, overflow: 'hidden' }} dangerouslySetInnerHTML={{ __html: renderTextPanelMarkdown(content) }} />;
}
