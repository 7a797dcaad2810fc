import { z } from 'zod';
import { group, type Kind } from './kinds.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The CustomResourceDefinition of a Kind: structural, with status subresource, columns and rules. */
export function toCrd(kind: Kind) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: kind.kind, listKind: kind.listKind, plural: kind.plural, singular: kind.singular },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          subresources: { status: {} },
          ...(kind.columns.length > 0 && { additionalPrinterColumns: kind.columns }),
          schema: { openAPIV3Schema: rootSchema(kind) },
        },
      ],
    },
  };
}

function rootSchema(kind: Kind): Schema {
  return {
    type: 'object',
    description: kind.description,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      // The API server validates metadata itself and refuses anything more here.
      metadata: { type: 'object' },
      spec: toStructural(jsonSchema(kind.spec), 'spec'),
      status: toStructural(jsonSchema(kind.status), 'status'),
    },
    ...(kind.rules && { 'x-kubernetes-validations': kind.rules }),
  };
}

/** `io: 'input'`: what users write, so that a field with a default is not required. */
const jsonSchema = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', reused: 'inline', cycles: 'throw' }) as Schema;

/** Keys JSON Schema has and JSONSchemaProps does not. */
const unknownToKubernetes = new Set(['$schema', 'id', 'examples', 'propertyNames']);

/** Ways to say "one of several shapes", which a structural schema forbids or gives another meaning. */
const junctors = ['anyOf', 'oneOf', 'allOf', 'not', '$ref', 'nullable'];

/**
 * The same schema as the API server's structural rules want it, or an error that names the field: what cannot be
 * said must be noticed when the CRD is made, not when it is installed.
 */
export function toStructural(node: Schema, path: string): Schema {
  const kept = Object.fromEntries(Object.entries(node).filter(([key]) => !unknownToKubernetes.has(key)));

  // A field of any shape: whatever zod knows about it may not stand beside this mark. An object may keep its type.
  if (kept['x-kubernetes-preserve-unknown-fields'] === true) {
    const { anyOf: _shapes, additionalProperties: _values, ...open } = kept;
    return open;
  }

  for (const junctor of junctors) {
    if (junctor in kept)
      throw new Error(`${path}: ${junctor} has no place in a CRD; mark the field polymorphic`);
  }
  if (kept.type === undefined)
    throw new Error(`${path}: a CRD needs a type here; mark the field polymorphic`);

  return {
    ...kept,
    ...(kept.type === 'integer' && integerBounds(kept)),
    ...(kept.pattern !== undefined && { pattern: re2(kept.pattern as string, path) }),
    ...(kept.properties !== undefined && { properties: eachProperty(kept.properties as Schema, path) }),
    ...(kept.items !== undefined && { items: toStructural(kept.items as Schema, `${path}[]`) }),
    ...(kept.additionalProperties !== undefined && {
      // False (a strict object) is refused by the API server and not needed: it prunes what is not declared.
      additionalProperties:
        kept.additionalProperties === false
          ? undefined
          : toStructural(kept.additionalProperties as Schema, `${path}.*`),
    }),
  };
}

const eachProperty = (properties: Schema, path: string): Schema =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      toStructural(schema as Schema, `${path}.${name}`),
    ]),
  );

/** zod bounds every integer by what a double holds exactly; in a CRD that is noise for "int64". */
const integerBounds = ({ minimum, maximum }: Schema): Schema => ({
  format: 'int64',
  minimum: minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum,
  maximum: maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum,
});

/** The API server compiles patterns with RE2, which has no look-around and no back-references. */
function re2(pattern: string, path: string): string {
  if (/\(\?[=!<]|\\[1-9]/.test(pattern))
    throw new Error(`${path}: RE2 cannot compile the pattern ${pattern}`);
  return pattern;
}
