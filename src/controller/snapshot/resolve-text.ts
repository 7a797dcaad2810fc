import { renderText } from '../../adapters/templates/render-text.ts';
import type { Text, Value } from '../../api/snapshot.ts';
import { Unbuildable } from './unbuildable.ts';

/**
 * Final text: as it stands where there are no parameters, else rendered (contract section 4.1). Where one of the
 * parameters is a Secret it stays a template, for the activity that may read Secrets.
 */
export function resolveText(
  template: string,
  label: 'query-input' | 'agent-prompt',
  parameters: Readonly<Record<string, Value>>,
): Text {
  const values = Object.entries(parameters);
  if (values.length === 0) return { text: template };
  if (values.some(([, value]) => 'secret' in value)) return { template, label, parameters };

  try {
    const known = values.map(([name, value]) => [name, 'value' in value ? value.value : '']);
    return { text: renderText({ template, label }, Object.fromEntries(known)) };
  } catch (error) {
    throw new Unbuildable('TemplateInvalid', (error as Error).message);
  }
}
