/** `text` as a Go string literal in double quotes; with `ascii`, everything beyond ASCII is escaped too. */
export function goQuote(text: string, ascii = false): string {
  let quoted = '"';
  for (const character of text) quoted += escaped(character, '"', ascii);
  return `${quoted}"`;
}

/** A code point as a Go character literal; numbers that are no character become U+FFFD. */
export function goQuoteCharacter(codePoint: bigint, ascii = false): string {
  return `'${escaped(characterOf(codePoint), "'", ascii)}'`;
}

/** Whether a Go raw string literal can hold `text`. */
export const fitsRawString = (text: string) => !/[`\ufeff]|(?!\t)\p{Cc}|\p{Cs}/u.test(text);

/** `U+0021 '!'`, the way Go names a character in its messages. */
export function unicodeName(text: string): string {
  const codePoint = text.codePointAt(0) ?? 0;
  const hex = codePoint.toString(16).toUpperCase().padStart(4, '0');
  return isPrintable(text) ? `U+${hex} '${text}'` : `U+${hex}`;
}

/** The character of a code point; U+FFFD where there is none. */
export function characterOf(codePoint: bigint): string {
  const known = codePoint >= 0n && codePoint <= 0x10ffffn && !(codePoint >= 0xd800n && codePoint <= 0xdfffn);
  return known ? String.fromCodePoint(Number(codePoint)) : '\ufffd';
}

/** Letters, marks, numbers, punctuation, symbols and the ASCII space. */
export const isPrintable = (text: string) => /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(text);

const named: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

function escaped(raw: string, quote: string, ascii: boolean): string {
  // A lone surrogate is no character in UTF-8.
  const one = raw.isWellFormed() ? raw : '\ufffd';
  if (one === quote || one === '\\') return `\\${one}`;

  const codePoint = one.codePointAt(0) ?? 0;
  if (isPrintable(one) && (!ascii || codePoint < 0x80)) return one;
  if (Object.hasOwn(named, one)) return named[one] ?? one;
  if (codePoint < 0x20 || codePoint === 0x7f) return `\\x${hex(codePoint, 2)}`;
  return codePoint < 0x10000 ? `\\u${hex(codePoint, 4)}` : `\\U${hex(codePoint, 8)}`;
}

const hex = (codePoint: number, digits: number) => codePoint.toString(16).padStart(digits, '0');
