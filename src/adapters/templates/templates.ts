import type { SelectorData, TemplatePort } from '../../activities/ports.ts';
import { renderGoTemplate } from './render-go-template.ts';
import { renderText, textInvalid } from './render-text.ts';

/** A selector's prompt holds the whole conversation, which may be longer than any one answer. */
const selectorBytesMax = 8 * 1024 * 1024;

/** What activities render: texts with parameters, and the prompt by which a model chooses the next speaker. */
export const templates: TemplatePort = { render: renderText, renderSelector };

/** Any field but the three is an error (contract 4.12): in ARK the data is a struct. */
function renderSelector(prompt: string, { Roles, Participants, History }: SelectorData): string {
  const data = { Roles, Participants, History };
  try {
    return renderGoTemplate(prompt, data, {
      name: 'selector',
      dataIs: 'struct',
      bareNames: new Set(Object.keys(data)),
      maxOutputBytes: selectorBytesMax,
    });
  } catch (error) {
    throw textInvalid(error, 'selector prompt');
  }
}
