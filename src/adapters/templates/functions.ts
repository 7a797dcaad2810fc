import { Output } from './budget.ts';
import { htmlEscape, jsEscape, queryEscape } from './go-escape.ts';
import { print, println, type Printable } from './go-print.ts';
import { printf } from './go-printf.ts';
import {
  Boxed,
  boxed,
  compareStrings,
  GoMap,
  isTrue,
  typeName,
  unboxed,
  type Concrete,
  type GoValue,
} from './go-values.ts';

/** A built-in that cannot do what it is asked; the message is Go's, without the function's name. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
}

/** `string` takes strings only, `any` turns a missing value into nil, `value` takes everything as it is. */
export type Parameter = 'string' | 'any' | 'value';

export interface BuiltIn {
  readonly fixed: readonly Parameter[];
  /** The type of any further arguments; without it there are none. */
  readonly rest?: Parameter;
  /** `bytesMax` bounds the text it may make. */
  run(values: readonly GoValue[], bytesMax: number): GoValue;
}

/** All of text/template's own functions. `and` and `or` evaluate their arguments one by one, hence in execute.ts. */
export const builtIns: ReadonlyMap<string, BuiltIn> = new Map<string, BuiltIn>([
  ['and', { fixed: ['value'], rest: 'value', run: () => undefined }],
  ['or', { fixed: ['value'], rest: 'value', run: () => undefined }],
  ['not', { fixed: ['value'], run: ([value]) => !isTrue(value) }],

  ['eq', { fixed: ['value'], rest: 'value', run: ([first, ...others]) => equalsAny(first, others) }],
  ['ne', { fixed: ['value', 'value'], run: ([a, b]) => !equalsAny(a, [b]) }],
  ['lt', { fixed: ['value', 'value'], run: ([a, b]) => isLess(a, b) }],
  ['le', { fixed: ['value', 'value'], run: ([a, b]) => isLess(a, b) || equalsAny(a, [b]) }],
  ['gt', { fixed: ['value', 'value'], run: ([a, b]) => !isLess(a, b) && !equalsAny(a, [b]) }],
  ['ge', { fixed: ['value', 'value'], run: ([a, b]) => !isLess(a, b) }],

  ['len', { fixed: ['value'], run: ([value]) => length(value) }],
  ['index', { fixed: ['value'], rest: 'value', run: ([item, ...keys]) => index(item, keys) }],
  ['slice', { fixed: ['value'], rest: 'value', run: ([item, ...bounds]) => slice(item, bounds) }],
  ['call', { fixed: ['value'], rest: 'value', run: ([callee]) => refuseCall(callee) }],

  ['print', textOf([], (output, values) => print(output, values))],
  ['println', textOf([], (output, values) => println(output, values))],
  ['printf', textOf(['string'], (output, [format, ...rest]) => printf(output, format as string, rest))],
  ['html', textOf([], (output, values) => output.write(htmlEscape(shown(values))))],
  ['js', textOf([], (output, values) => output.write(jsEscape(shown(values))))],
  ['urlquery', textOf([], (output, values) => output.write(queryEscape(shown(values))))],
]);

function textOf(
  fixed: readonly Parameter[],
  write: (output: Output, values: readonly Printable[]) => void,
): BuiltIn {
  return {
    fixed,
    rest: 'any',
    run: (values, bytesMax) => {
      const output = new Output(bytesMax);
      write(output, values.map(unboxed));
      return output.text;
    },
  };
}

/** What the escaping functions see: as an action would print it, so nil is `<no value>` here and not `<nil>`. */
function shown(values: readonly Printable[]): string {
  const output = new Output(Infinity);
  print(
    output,
    values.map((value) => (value === undefined ? '<no value>' : value)),
  );
  return output.text;
}

function equalsAny(first: GoValue, others: readonly GoValue[]): boolean {
  if (others.length === 0) throw new FunctionError('missing argument for comparison');
  const a = unboxed(first);
  return others.some((other) => equals(a, unboxed(other)));
}

function equals(a: Concrete | undefined, b: Concrete | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (isBasic(a) && isBasic(b) && typeof a === typeof b) return a === b;
  if (isBasic(a) || isBasic(b)) throw incompatible(a, b);
  // Go prints the values, too; they may be secret.
  throw new FunctionError(
    typeName(a) === typeName(b)
      ? `non-comparable type ${typeName(b)}`
      : `non-comparable types ${typeName(a)}, ${typeName(b)}`,
  );
}

function isLess(first: GoValue, second: GoValue): boolean {
  const a = unboxed(first);
  const b = unboxed(second);
  if (!isBasic(a) || !isBasic(b)) throw new FunctionError('invalid type for comparison');
  if (typeof a !== typeof b) throw incompatible(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b) < 0;
  if (typeof a === 'boolean') throw new FunctionError('invalid type for comparison');
  return a < b;
}

const isBasic = (value: Concrete | undefined): value is string | number | bigint | boolean =>
  value !== undefined && typeof value !== 'object';

const incompatible = (a: Concrete, b: Concrete) =>
  new FunctionError(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`);

function length(value: GoValue): bigint {
  const inner = unboxed(value);
  if (inner === undefined) {
    const isNil = value instanceof Boxed;
    throw new FunctionError(
      isNil ? 'len of nil pointer' : 'reflect: call of reflect.Value.Type on zero Value',
    );
  }
  if (typeof inner === 'string') return BigInt(Buffer.byteLength(inner));
  if (Array.isArray(inner)) return BigInt(inner.length);
  if (inner instanceof GoMap) return BigInt(inner.keys().length);
  throw new FunctionError(`len of type ${typeName(inner)}`);
}

function index(item: GoValue, keys: readonly GoValue[]): GoValue {
  if (unboxed(item) === undefined) throw new FunctionError('index of untyped nil');
  return keys.reduce(elementOf, unboxed(item));
}

function elementOf(item: GoValue, key: GoValue): GoValue {
  const inner = unboxed(item);
  if (inner === undefined) throw new FunctionError('index of nil pointer');
  if (inner instanceof GoMap) return inner.get(mapKey(unboxed(key)));

  const bytes = typeof inner === 'string' ? Buffer.from(inner) : undefined;
  const items = Array.isArray(inner) ? (inner as readonly unknown[]) : undefined;
  const sequence = bytes ?? items;
  if (!sequence) throw new FunctionError(`can't index item of type ${typeName(inner)}`);

  const position = sliceIndex(unboxed(key), sequence.length);
  if (position === sequence.length) {
    throw new FunctionError(`reflect: ${bytes ? 'string' : 'slice'} index out of range`);
  }
  return bytes ? BigInt(bytes[position] ?? 0) : boxed(items?.[position]);
}

function mapKey(key: Concrete | undefined): string {
  if (key === undefined) throw new FunctionError('value is nil; should be of type string');
  if (typeof key === 'string') return key;
  throw new FunctionError(`value has type ${typeName(key)}; should be string`);
}

function sliceIndex(position: Concrete | undefined, max: number): number {
  if (position === undefined) throw new FunctionError('cannot index slice/array with nil');
  if (typeof position !== 'bigint') {
    throw new FunctionError(`cannot index slice/array with type ${typeName(position)}`);
  }
  if (position < 0n || position > BigInt(max)) throw new FunctionError(`index out of range: ${position}`);
  return Number(position);
}

/** Strings are cut between bytes; half a character becomes U+FFFD. A slice ends where its items do: no spare capacity. */
function slice(item: GoValue, bounds: readonly GoValue[]): GoValue {
  const inner = unboxed(item);
  if (inner === undefined) throw new FunctionError('slice of untyped nil');
  if (bounds.length > 3) throw new FunctionError(`too many slice indexes: ${bounds.length}`);
  const isText = typeof inner === 'string';
  if (isText && bounds.length === 3) throw new FunctionError('cannot 3-index slice a string');
  if (!isText && !Array.isArray(inner)) {
    throw new FunctionError(`can't slice item of type ${typeName(inner)}`);
  }

  const sequence = isText ? Buffer.from(inner) : (inner as readonly unknown[]);
  const [from = 0, to = sequence.length, capacity = to] = bounds.map((bound) =>
    sliceIndex(unboxed(bound), sequence.length),
  );
  if (from > to) throw new FunctionError(`invalid slice index: ${from} > ${to}`);
  if (to > capacity) throw new FunctionError(`invalid slice index: ${to} > ${capacity}`);
  return Buffer.isBuffer(sequence) ? sequence.subarray(from, to).toString() : sequence.slice(from, to);
}

/** Data holds no functions, so nothing can be called. */
function refuseCall(callee: GoValue): never {
  const inner = unboxed(callee);
  throw new FunctionError(inner === undefined ? 'call of nil' : `non-function of type ${typeName(inner)}`);
}
