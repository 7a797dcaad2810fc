const depthMax = 6;
const textCharactersMax = 80;

type Schema = Readonly<Record<string, unknown>>;

/**
 * A value that fits a JSON schema, made of what `text` holds: its proper name ("Oslo") or itself for strings, its
 * first number for numbers, the choice it names for enums. Properties that are not required are left out of objects
 * that require others. `taken` are the choices that properties beside this one have.
 */
export function sampleOf(schema: Schema, text: string, depth = 0, taken = new Set<unknown>()): unknown {
  if (depth > depthMax) return null;
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return chosen(schema['enum'] as unknown[], text, taken);

  switch (typeOf(schema)) {
    case 'object':
      return objectOf(schema, text, depth);
    case 'array':
      return isSchema(schema['items']) ? [sampleOf(schema['items'], text, depth + 1)] : [];
    case 'boolean':
      return true;
    case 'integer':
      return Math.round(numberIn(text, schema));
    case 'number':
      return numberIn(text, schema);
    case 'null':
      return null;
    default:
      return properName(text) ?? text.slice(0, textCharactersMax);
  }
}

/** The same for a schema of an object, as tools' arguments are. */
export function objectOf(schema: Schema, text: string, depth = 0): Record<string, unknown> {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? new Set(schema['required'] as unknown[]) : new Set();
  const taken = new Set<unknown>();
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.size === 0 || required.has(name))
      .map(([name, property]) => [
        name,
        sampleOf(isSchema(property) ? property : {}, text, depth + 1, taken),
      ]),
  );
}

function typeOf(schema: Schema): unknown {
  const type = schema['type'];
  if (Array.isArray(type)) return (type as unknown[]).find((name) => name !== 'null');
  return type ?? ('properties' in schema ? 'object' : 'string');
}

function numberIn(text: string, schema: Schema): number {
  const wished = Number(/-?\d+(\.\d+)?/.exec(text)?.[0] ?? 1);
  const { minimum, maximum } = schema;
  return Math.min(
    Math.max(wished, typeof minimum === 'number' ? minimum : -Infinity),
    typeof maximum === 'number' ? maximum : Infinity,
  );
}

/** The choice that the text names first and no property before this one has taken ("from kilometres to miles"). */
function chosen(choices: readonly unknown[], text: string, taken: Set<unknown>): unknown {
  const spoken = text.toLowerCase();
  const placeOf = (choice: unknown) =>
    typeof choice === 'string' && !taken.has(choice) ? spoken.indexOf(choice.toLowerCase()) : -1;
  const [named = choices[0]] = choices
    .filter((choice) => placeOf(choice) >= 0)
    .toSorted((one, other) => placeOf(one) - placeOf(other));
  taken.add(named);
  return named;
}

/** A capitalised word that does not merely begin a sentence. */
const properName = (text: string): string | undefined =>
  /(?<=[a-z,] )\p{Lu}[\p{L}-]+(?: \p{Lu}[\p{L}-]+)*/u.exec(text)?.[0];

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
