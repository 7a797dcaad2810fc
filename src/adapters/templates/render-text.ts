import { renderGoTemplate } from './render-go-template.ts';
import { TemplateError } from './template-error.ts';

/** A text whose template does not work. Its `type` is the failure's one name (src/api/failures.ts). */
export class TextInvalidError extends Error {
  override readonly name = 'TextInvalidError';
  readonly type = 'TemplateInvalid';
}

/**
 * The text of a Query's input or an agent's prompt, with the parameters' values in their places. Throws a
 * TextInvalidError with the contract's message (4.1) and never a parameter's value. A parameter may also be written
 * without its dot (contract section 9, row 10).
 */
export function renderText(
  { template, label }: { readonly template: string; readonly label: 'query-input' | 'agent-prompt' },
  values: Readonly<Record<string, string>>,
): string {
  try {
    return renderGoTemplate(template, values, {
      name: label,
      dataIs: 'map of strings',
      bareNames: new Set(Object.keys(values)),
    });
  } catch (error) {
    throw textInvalid(error, label === 'query-input' ? 'input' : 'prompt');
  }
}

/** A template's error in the contract's words; any other error as it is. */
export function textInvalid(error: unknown, place: string): unknown {
  if (!(error instanceof TemplateError)) return error;
  const problem =
    error.phase === 'parse' ? `invalid template syntax in ${place}` : 'template execution failed';
  return new TextInvalidError(`${problem}: ${error.message}`, { cause: error });
}
