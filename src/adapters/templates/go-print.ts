import { Output } from './budget.ts';
import { goQuote, goQuoteCharacter, characterOf, fitsRawString, unicodeName } from './go-quote.ts';
import { formatFloat } from './go-float.ts';
import { boxed, fromJson, GoMap, GoStruct, typeName, unboxed, type Concrete } from './go-values.ts';

/** An argument of Go's print functions; undefined is nil. */
export type Printable = Concrete | undefined;

/** The flags, width and precision between a `%` and its verb. */
export interface Spec {
  plus?: boolean;
  minus?: boolean;
  sharp?: boolean;
  space?: boolean;
  zero?: boolean;
  width?: number;
  precision?: number;
  /** `%#v` and `%+v`, which mean something else than `#` and `+` elsewhere. */
  sharpV?: boolean;
  plusV?: boolean;
}

/** Data nested deeper than this is printed as `…`. */
const depthMax = 500;

/** What Go's `fmt.Sprint` makes of a JSON value: `map[a:1 b:[x <nil>]]`, keys sorted, numbers as float64. */
export function goPrint(json: unknown, bytesMax = Infinity): string {
  const output = new Output(bytesMax);
  printValue(output, fromJson(json), 'v', {});
  return output.text;
}

/** Go's fmt.Sprint: a space between two operands neither of which is a string. */
export function print(output: Output, values: readonly Printable[]): void {
  let previousIsString = true;
  for (const value of values) {
    const isString = typeof value === 'string';
    if (!isString && !previousIsString) output.write(' ');
    printValue(output, value, 'v', {});
    previousIsString = isString;
  }
}

/** Go's fmt.Sprintln. */
export function println(output: Output, values: readonly Printable[]): void {
  for (const [index, value] of values.entries()) {
    if (index > 0) output.write(' ');
    printValue(output, value, 'v', {});
  }
  output.write('\n');
}

/** One value under one verb, as Go's fmt prints it. `%b`, `%x` and `%X` of a float64 count as wrong verbs here. */
export function printValue(output: Output, value: Printable, verb: string, spec: Spec): void {
  if (verb === 'T') return output.write(padded(value === undefined ? '<nil>' : typeName(value), spec));
  if (value === undefined) return output.write(verb === 'v' ? padded('<nil>', spec) : `%!${verb}(<nil>)`);
  printNested(output, value, verb, spec, 0);
}

function printNested(output: Output, value: Concrete, verb: string, spec: Spec, depth: number): void {
  if (depth > depthMax) return output.write('…');
  if (typeof value === 'object' && (verb === 'p' || verb === 'w')) {
    output.write(`%!${verb}(${typeName(value)}=`);
    printNested(output, value, 'v', spec, depth);
    return output.write(')');
  }
  if (Array.isArray(value)) return printSlice(output, value as readonly unknown[], verb, spec, depth);
  if (value instanceof GoMap) return printMap(output, value, verb, spec, depth);
  if (value instanceof GoStruct) return printStruct(output, value, verb, spec, depth);
  output.write(scalar(value as string | number | bigint | boolean, verb, spec));
}

function printElement(output: Output, raw: unknown, verb: string, spec: Spec, depth: number): void {
  const value = unboxed(boxed(raw));
  if (value !== undefined) return printNested(output, value, verb, spec, depth + 1);
  output.write(spec.sharpV ? 'interface {}(nil)' : '<nil>');
}

function printSlice(
  output: Output,
  items: readonly unknown[],
  verb: string,
  spec: Spec,
  depth: number,
): void {
  output.write(spec.sharpV ? `${typeName(items)}{` : '[');
  for (const [index, item] of items.entries()) {
    if (index > 0) output.write(spec.sharpV ? ', ' : ' ');
    printElement(output, item, verb, spec, depth);
  }
  output.write(spec.sharpV ? '}' : ']');
}

function printMap(output: Output, map: GoMap, verb: string, spec: Spec, depth: number): void {
  output.write(spec.sharpV ? `${typeName(map)}{` : 'map[');
  for (const [index, key] of map.keys().entries()) {
    if (index > 0) output.write(spec.sharpV ? ', ' : ' ');
    output.write(`${scalar(key, verb, spec)}:`);
    printElement(output, map.raw(key), verb, spec, depth);
  }
  output.write(spec.sharpV ? '}' : ']');
}

function printStruct(output: Output, struct: GoStruct, verb: string, spec: Spec, depth: number): void {
  output.write(spec.sharpV ? `${typeName(struct)}{` : '{');
  for (const [index, [name, text]] of Object.entries(struct.fields).entries()) {
    if (index > 0) output.write(spec.sharpV ? ', ' : ' ');
    if (spec.plusV || spec.sharpV) output.write(`${name}:`);
    printNested(output, text, verb, spec, depth + 1);
  }
  output.write('}');
}

function scalar(value: string | number | bigint | boolean, verb: string, spec: Spec): string {
  return scalarText(value, verb, spec) ?? wrongVerb(value, verb, spec);
}

function scalarText(value: string | number | bigint | boolean, verb: string, spec: Spec): string | undefined {
  if (typeof value === 'string') return stringText(value, verb, spec);
  if (typeof value === 'number') return floatText(value, verb, spec);
  if (typeof value === 'bigint') return integerText(value, verb, spec);
  return verb === 't' || verb === 'v' ? padded(String(value), spec) : undefined;
}

/** `%!d(string=hi)`: the value as `%v` prints it, with the width and flags it was given. */
const wrongVerb = (value: string | number | bigint | boolean, verb: string, spec: Spec) =>
  `%!${verb}(${typeName(value)}=${scalar(value, 'v', spec)})`;

function stringText(text: string, verb: string, spec: Spec): string | undefined {
  switch (verb) {
    case 's':
      return padded(truncated(text, spec), spec);
    case 'v':
      return spec.sharpV ? padded(goQuote(truncated(text, spec)), spec) : padded(truncated(text, spec), spec);
    case 'q': {
      const cut = truncated(text, spec);
      if (spec.sharp && fitsRawString(cut)) return padded(`\`${cut}\``, spec);
      return padded(goQuote(cut, spec.plus), spec);
    }
    case 'x':
    case 'X':
      return hexText(text, verb, spec);
    default:
      return undefined;
  }
}

function hexText(text: string, verb: 'x' | 'X', spec: Spec): string {
  const bytes = Buffer.from(text).subarray(0, spec.precision);
  const prefix = spec.sharp && bytes.length > 0 ? `0${verb}` : '';
  const separator = spec.space ? ` ${prefix}` : '';
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0'));
  const digits = verb === 'X' ? hex.map((pair) => pair.toUpperCase()) : hex;
  return padded(prefix + digits.join(separator), spec);
}

function integerText(value: bigint, verb: string, spec: Spec): string | undefined {
  switch (verb) {
    case 'v':
    case 'd':
      return integerDigits(value, 10, '', spec);
    case 'b':
      return integerDigits(value, 2, spec.sharp ? '0b' : '', spec);
    case 'o':
      return integerDigits(value, 8, spec.sharp ? '0' : '', spec);
    case 'O':
      return integerDigits(value, 8, spec.sharp ? '0o0' : '0o', spec);
    case 'x':
      return integerDigits(value, 16, spec.sharp ? '0x' : '', spec);
    case 'X':
      return integerDigits(value, 16, spec.sharp ? '0X' : '', spec).toUpperCase();
    case 'c':
      return padded(characterOf(value), spec);
    case 'q':
      return padded(goQuoteCharacter(value, spec.plus), spec);
    case 'U':
      return padded(unicodeText(value, spec), { ...spec, zero: false });
    default:
      return undefined;
  }
}

function integerDigits(value: bigint, base: number, prefix: string, spec: Spec): string {
  if (spec.precision === 0 && value === 0n) return ' '.repeat(spec.width ?? 0);
  const sign = value < 0n ? '-' : spec.plus ? '+' : spec.space ? ' ' : '';
  const zeroPadded = spec.zero && !spec.minus && spec.width !== undefined;
  const digitsMin = spec.precision ?? (zeroPadded ? (spec.width ?? 0) - sign.length : 0);
  const digits = (value < 0n ? -value : value).toString(base).padStart(digitsMin, '0');
  // Octal's leading zero may already be there.
  const marked = base === 8 && digits.startsWith('0') ? prefix.replace(/0$/, '') : prefix;
  return padded(sign + marked + digits, { ...spec, zero: false });
}

function unicodeText(value: bigint, spec: Spec): string {
  const hex = BigInt.asUintN(64, value)
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(spec.precision ?? 4, 4), '0');
  const shown = spec.sharp ? / '.*'$/su.exec(unicodeName(characterOf(value)))?.[0] : undefined;
  return `U+${hex}${characterOf(value) === '\ufffd' ? '' : (shown ?? '')}`;
}

function floatText(value: number, verb: string, spec: Spec): string | undefined {
  const known = { v: 'g', g: 'g', G: 'g', f: 'f', F: 'f', e: 'e', E: 'e' } as const;
  if (!Object.hasOwn(known, verb)) return undefined;
  const style = known[verb as keyof typeof known];

  const isNegative = value < 0 || Object.is(value, -0);
  const sign = isNegative ? '-' : spec.plus ? '+' : spec.space ? ' ' : '';
  if (!Number.isFinite(value)) {
    const name = Number.isNaN(value) ? `${sign}NaN` : `${sign || '+'}Inf`;
    return padded(name, { ...spec, zero: false });
  }

  const precision = spec.precision ?? (style === 'g' ? undefined : 6);
  const plain = formatFloat(Math.abs(value), style, precision);
  const digits = spec.sharp ? withPoint(plain, style, spec.precision) : plain;
  const number = verb === 'G' || verb === 'E' ? digits.toUpperCase() : digits;

  if (sign !== '' && spec.zero && !spec.minus && spec.width !== undefined) {
    return sign + number.padStart(spec.width - sign.length, '0');
  }
  return padded(sign + number, spec);
}

/** The `#` flag keeps a decimal point, and under `%g` the zeros behind it. */
function withPoint(number: string, style: 'e' | 'f' | 'g', precision: number | undefined): string {
  const [mantissa = '', exponent] = number.split('e');
  const pointed = mantissa.includes('.') ? mantissa : `${mantissa}.`;
  const significant = pointed.replace(/^[0.]*/, '').replace('.', '').length;
  const missing = style === 'g' ? (precision ?? 6) - Math.max(significant, mantissa === '0' ? 1 : 0) : 0;
  return pointed + '0'.repeat(Math.max(missing, 0)) + (exponent === undefined ? '' : `e${exponent}`);
}

function truncated(text: string, { precision }: Spec): string {
  return precision === undefined ? text : Array.from(text).slice(0, precision).join('');
}

/** Width counts characters; zeros pad on the left only. */
function padded(text: string, { width, minus, zero }: Spec): string {
  if (width === undefined) return text;
  const missing = width - Array.from(text).length;
  if (missing <= 0) return text;
  if (minus) return text + ' '.repeat(missing);
  return (zero ? '0' : ' ').repeat(missing) + text;
}
