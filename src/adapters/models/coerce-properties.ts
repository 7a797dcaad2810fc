/** Fields of a chat completion request that are strings, whatever they look like. */
const strings = new Set([
  'user',
  'reasoning_effort',
  'service_tier',
  'verbosity',
  'prompt_cache_key',
  'safety_identifier',
]);

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * A Model's properties, all written as strings, as the JSON a provider expects: numbers, booleans, objects and lists
 * where they read as such. Empty ones are left out. ARK means to do the same and drops them (contract section 4.5).
 */
export const coerceProperties = (properties: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, text]) => text !== '')
      .map(([name, text]) => [name, coerce(name, text)]),
  );

function coerce(name: string, text: string): unknown {
  if (strings.has(name)) return text;
  // A stop sequence may look like anything; only a list is told by its brackets.
  if (name === 'stop') return list(text) ?? text;
  if (text === 'true' || text === 'false') return text === 'true';
  if (number.test(text)) return Number(text);
  return /^\s*[[{]/.test(text) ? (parsed(text) ?? text) : text;
}

function list(text: string): unknown[] | undefined {
  const value = /^\s*\[/.test(text) ? parsed(text) : undefined;
  return Array.isArray(value) ? value : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
