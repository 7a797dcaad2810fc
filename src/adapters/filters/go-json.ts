const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * Compact JSON as Go's encoding/json writes it: keys sorted by their bytes, and what could matter inside HTML or
 * JavaScript escaped. Numbers need no care: both languages write the shortest digits, with an exponent from 1e21 up
 * and below 1e-6.
 */
export function goJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return scalar(value);

  const keys = Object.keys(value).toSorted((one, other) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  );
  const entries = keys.map((key) => `${scalar(key)}:${goJson((value as Record<string, unknown>)[key])}`);
  return `{${entries.join(',')}}`;
}

const scalar = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? character);
