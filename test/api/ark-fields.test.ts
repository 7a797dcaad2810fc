import { kinds } from '../../src/api/kinds.ts';
import { toCrd } from '../../src/api/to-crd.ts';
import { arkColumns, arkFields } from './ark-fields.ts';

interface Node {
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node;
  readonly enum?: readonly string[];
  readonly default?: string | number | boolean;
  readonly minLength?: number;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

interface Field extends Node {
  readonly isRequired: boolean;
}

/** Every field below a node by its path, `[]` for items and `*` for values of a map. */
function fieldsOf(path: string, node: Node, isRequired = false): readonly (readonly [string, Field])[] {
  return [
    [path, { ...node, isRequired }],
    ...Object.entries(node.properties ?? {}).flatMap(([name, property]) =>
      fieldsOf(`${path}.${name}`, property, node.required?.includes(name)),
    ),
    ...(node.items ? fieldsOf(`${path}[]`, node.items) : []),
    ...(node.additionalProperties ? fieldsOf(`${path}.*`, node.additionalProperties) : []),
  ];
}

const isOfAnyShape = (field: Node | undefined) =>
  field?.type === undefined && field?.['x-kubernetes-preserve-unknown-fields'] === true;

const defaultIn = (rules: readonly string[]) => rules.find((rule) => rule.startsWith('='))?.slice(1);

const enumerated = (rules: readonly string[]) => rules.find((rule) => rule.includes('|'))?.split('|') ?? [];

describe.each(kinds)('$kind', (kind) => {
  const { spec, status } = toCrd(kind).spec.versions[0]!.schema.openAPIV3Schema.properties as Record<
    string,
    Node
  >;
  const ours = new Map([...fieldsOf('spec', spec ?? {}), ...fieldsOf('status', status ?? {})]);
  const arks = Object.entries(arkFields[kind.kind] ?? {}).map(([path, rules]) => ({
    path,
    rules: rules.split(' '),
  }));

  test.each(arks)('takes what ARK takes in $path', ({ path, rules }) => {
    const field = ours.get(path);
    expect(field).toBeDefined();

    expect(isOfAnyShape(field) ? rules[0] : field?.type).toBe(rules[0]);
    expect(field?.['x-kubernetes-preserve-unknown-fields'] ?? false).toBe(
      rules.includes('open') || isOfAnyShape(field),
    );
    // Ours may ask for less than ARK does, never for more.
    expect(rules).toEqual(
      expect.arrayContaining([...(field?.isRequired ? ['req'] : []), ...(field?.minLength ? ['min1'] : [])]),
    );
    // What ARK requires may have a default here.
    const ourDefault = field?.default === undefined ? undefined : String(field.default);
    expect(ourDefault).toBe(defaultIn(rules) ?? (rules.includes('req') ? ourDefault : undefined));
    expect(field?.enum ?? rules).toEqual(expect.arrayContaining(enumerated(rules)));
  });

  test('has the version of ARK', () => {
    const version = ['A2AServer', 'ExecutionEngine'].includes(kind.kind) ? 'v1prealpha1' : 'v1alpha1';
    expect(toCrd(kind).spec.versions.map(({ name }) => name)).toEqual([version]);
  });

  test('asks for no field that ARK does not have', () => {
    const known = new Set(['spec', 'status', ...arks.map(({ path }) => path)]);
    // What is required inside a field that ARK does not have is asked of nobody.
    const isReached = (path: string) => known.has(path.replace(/\.[^.]*$/, '').replace(/(\[\]|\.\*)$/, ''));
    const asked = [...ours].filter(
      ([path, field]) => field.isRequired && !known.has(path) && isReached(path),
    );
    expect(asked.map(([path]) => path)).toEqual([]);
  });

  test('is found under the names and the columns of ARK', () => {
    const { spec: crd } = toCrd(kind);
    expect(crd.names).toEqual({
      kind: kind.kind,
      listKind: `${kind.kind}List`,
      plural: `${kind.kind.toLowerCase()}s`.replace(/ys$/, 'ies'),
      singular: kind.kind.toLowerCase(),
    });
    const shown = kind.columns.filter(({ priority }) => priority === undefined).map(({ name }) => name);
    expect(shown).toEqual(arkColumns[kind.kind]);
  });
});
