/**
 * Go's values, as a template sees JSON data: numbers are float64 (`number`) unless the template itself made them
 * (`bigint`, Go's int), objects are maps, arrays are slices. A byte of a string counts as an int too.
 *
 * `undefined` is a value that is not there (a missing key); `Boxed` is Go's interface cell, in which the elements of
 * maps and slices lie and which may hold nil. The two differ in what a further field of them does.
 */
export type GoValue = Concrete | Boxed | undefined;
export type Concrete = boolean | number | bigint | string | readonly unknown[] | GoMap | GoStruct;

export class Boxed {
  readonly inner: Concrete | undefined;
  constructor(inner: Concrete | undefined) {
    this.inner = inner;
  }
}

type Fields = Readonly<Record<string, unknown>>;

export class GoMap {
  readonly #fields: Fields;
  readonly element: 'string' | 'interface {}';

  constructor(fields: Fields, element: 'string' | 'interface {}' = 'interface {}') {
    this.#fields = fields;
    this.element = element;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#fields, key);
  }

  /** Own properties only; a missing key is the element type's zero value. */
  get(key: string): GoValue {
    const raw = this.raw(key);
    if (this.element === 'string') return typeof raw === 'string' ? raw : '';
    return boxed(raw);
  }

  raw(key: string): unknown {
    return this.has(key) ? this.#fields[key] : undefined;
  }

  /** In Go's printing order, which is also that of `range`. */
  keys(): readonly string[] {
    return Object.keys(this.#fields).toSorted(compareStrings);
  }
}

/** A fixed set of texts. Unlike a map, it refuses to be asked for any other field. */
export class GoStruct {
  readonly fields: Readonly<Record<string, string>>;
  constructor(fields: Readonly<Record<string, string>>) {
    this.fields = fields;
  }
}

/** A piece of JSON data as a Go value; undefined is nil. */
export function fromJson(raw: unknown): Concrete | undefined {
  if (typeof raw === 'object' && raw !== null) {
    return Array.isArray(raw) ? (raw as readonly unknown[]) : new GoMap(raw as Fields);
  }
  const isScalar = ['string', 'number', 'boolean', 'bigint'].includes(typeof raw);
  return isScalar ? (raw as string | number | boolean | bigint) : undefined;
}

export const boxed = (raw: unknown) => new Boxed(fromJson(raw));

export const unboxed = (value: GoValue): Concrete | undefined =>
  value instanceof Boxed ? value.inner : value;

export function isTrue(value: GoValue): boolean {
  const inner = unboxed(value);
  if (inner === undefined) return false;
  if (inner instanceof GoMap) return inner.keys().length > 0;
  if (inner instanceof GoStruct) return true;
  if (Array.isArray(inner)) return inner.length > 0;
  return Number.isNaN(inner) || Boolean(inner);
}

export function typeName(value: Concrete): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number') return 'float64';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'boolean') return 'bool';
  if (value instanceof GoMap) return `map[string]${value.element}`;
  if (!(value instanceof GoStruct)) return '[]interface {}';
  const fields = Object.keys(value.fields).map((name) => `${name} string`);
  return `struct { ${fields.join('; ')} }`;
}

/** The order of the texts' UTF-8 bytes, which is that of their code points. */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const difference = rank(a.charCodeAt(index)) - rank(b.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all others. */
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
