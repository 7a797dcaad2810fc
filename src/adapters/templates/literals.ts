import { goQuote } from './go-quote.ts';

/** What a literal says, or Go's text for what is wrong with it. */
export type Literal<T> = { readonly value: T } | { readonly error: string };

const invalid = { error: 'invalid syntax' } as const;

/** The text of a quoted (`"…"`) or raw (`` `…` ``) Go string literal. */
export function unquote(literal: string): Literal<string> {
  // Raw strings drop carriage returns (Go specification, "String literals").
  if (literal.startsWith('`')) return { value: literal.slice(1, -1).replaceAll('\r', '') };
  return unescape(literal.slice(1, -1), '"');
}

/** A Go character literal is the number of its code point. */
export function characterValue(literal: string): Literal<bigint> {
  const body = literal.slice(1, -1);
  const byte = /^\\(?:x([0-9a-fA-F]{2})|([0-3][0-7]{2}))$/.exec(body);
  if (byte) return { value: BigInt(Number.parseInt(byte[1] ?? byte[2] ?? '', byte[1] ? 16 : 8)) };

  const text = unescape(body, "'");
  if ('error' in text) return text;
  const [first, ...rest] = text.value;
  if (first === undefined) return invalid;
  if (rest.length > 0) return { error: `malformed character constant: ${literal}` };
  return { value: BigInt(first.codePointAt(0) ?? 0) };
}

/** An int where the literal has no fraction or exponent, else a float64. */
export function numberValue(literal: string): Literal<number | bigint> {
  const [, sign, digits = ''] = /^([-+]?)(.*)$/.exec(literal) ?? [];
  // Underscores stand between digits, or between a base's prefix and its digits.
  const plain = /_(?![0-9a-fA-F])|(?<![0-9a-fA-FxXoObB])_/.test(digits) ? '' : digits.replaceAll('_', '');

  const int = integer(plain);
  if (int !== undefined) {
    const signed = sign === '-' ? -int : int;
    if (signed >= -(2n ** 63n) && signed < 2n ** 63n) return { value: signed };
  }
  if (int !== undefined || /^\d+$/.test(plain)) return { error: `integer overflow: ${goQuote(literal)}` };

  const float = /^(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(plain) ? Number(plain) : Infinity;
  if (!Number.isFinite(float)) return { error: `illegal number syntax: ${goQuote(literal)}` };
  return { value: sign === '-' ? -float : float };
}

function integer(digits: string): bigint | undefined {
  if (/^(0|[1-9]\d*)$/.test(digits) || /^0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)$/.test(digits)) {
    return BigInt(digits);
  }
  return /^0[0-7]+$/.test(digits) ? BigInt(`0o${digits.slice(1)}`) : undefined;
}

const simple: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92 };
const escape =
  /\\(?:x(?<x>[0-9a-fA-F]{2})|(?<octal>[0-3][0-7]{2})|u(?<u>[0-9a-fA-F]{4})|U(?<U>[0-9a-fA-F]{8})|(?<simple>["'abfnrtv\\]))|\\/g;

/** Escapes name bytes (`\x`, octal) or characters, so the text is put together from bytes. */
function unescape(body: string, quote: string): Literal<string> {
  const parts: Buffer[] = [];
  let copied = 0;
  for (const match of body.matchAll(escape)) {
    parts.push(Buffer.from(body.slice(copied, match.index)));
    copied = match.index + match[0].length;

    const { x, octal, u, U, simple: letter } = match.groups ?? {};
    const codePoint = Number.parseInt(u ?? U ?? '', 16);
    if (x !== undefined) parts.push(Buffer.from(x, 'hex'));
    else if (octal !== undefined) parts.push(Buffer.of(Number.parseInt(octal, 8)));
    else if (codePoint <= 0x10ffff && !(codePoint >= 0xd800 && codePoint <= 0xdfff)) {
      parts.push(Buffer.from(String.fromCodePoint(codePoint)));
    } else if (letter !== undefined && Object.hasOwn(simple, letter)) {
      parts.push(Buffer.of(simple[letter] ?? 0));
    } else if (letter !== undefined && letter === quote) parts.push(Buffer.from(letter));
    else return invalid;
  }
  parts.push(Buffer.from(body.slice(copied)));
  return { value: Buffer.concat(parts).toString() };
}
