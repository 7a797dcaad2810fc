import { Budget, Output } from './budget.ts';
import { execute } from './execute.ts';
import { builtIns } from './functions.ts';
import { GoMap, GoStruct } from './go-values.ts';
import { parse } from './parse.ts';

export interface RenderOptions {
  /** The template's name in error messages. */
  readonly name: string;
  readonly maxOutputBytes?: number;
  /** Nodes visited, plus one for every 64 characters a function handles. */
  readonly maxSteps?: number;
  /** Fields of the data that may also be written without a dot: `{{ name }}` for `{{ $.name }}`. */
  readonly bareNames?: ReadonlySet<string>;
  /**
   * The Go type the data has. It decides what a field that is not there is: `<no value>` in a map; with `index`, an
   * empty text among strings; an error in a struct, whose values must be strings, too. Default `map of values`.
   */
  readonly dataIs?: 'map of values' | 'map of strings' | 'struct';
}

const functionNames: ReadonlySet<string> = new Set(builtIns.keys());

/**
 * What Go's text/template makes of `source` and `data`, or a TemplateError with Go's text (contract 4.1). Nothing is
 * evaluated as code and only own properties of the data are seen.
 *
 * Numbers of the data are float64 and print as Go prints them, also in HTTP bodies, because that is what manifests
 * were written for; `{{ printf "%.0f" .input.id }}` avoids exponents. Only tool URLs print plain decimals (contract 4.8).
 *
 * On purpose unlike Go: no complex numbers and hexadecimal floats; errors name the type, not the value, of what cannot
 * be ranged over or compared, as it may be a Secret's; and time, nesting and output are bounded.
 */
export function renderGoTemplate(
  source: string,
  data: Readonly<Record<string, unknown>>,
  options: RenderOptions,
): string {
  const { name, bareNames, maxOutputBytes: bytesMax = 1024 * 1024, maxSteps = 500_000 } = options;
  const templates = parse(source, { name, functions: functionNames, ...(bareNames && { bareNames }) });

  const output = new Output(bytesMax);
  execute(
    { name, source, templates, budget: new Budget(maxSteps), output, bytesMax },
    goData(data, options.dataIs ?? 'map of values'),
  );
  return output.text;
}

function goData(data: Readonly<Record<string, unknown>>, type: NonNullable<RenderOptions['dataIs']>) {
  switch (type) {
    case 'map of values':
      return new GoMap(data);
    case 'map of strings':
      return new GoMap(data, 'string');
    case 'struct':
      return new GoStruct(data as Readonly<Record<string, string>>);
  }
}
