import { goQuote, unicodeName } from './go-quote.ts';

export interface Token {
  readonly type: TokenType;
  readonly text: string;
  /** Where the token starts, in UTF-16 units from the beginning of the source. */
  readonly at: number;
  /** Counted from 1. */
  readonly line: number;
}

export type TokenType =
  | 'error'
  | 'eof'
  | 'text'
  | 'left-delimiter'
  | 'right-delimiter'
  | 'space'
  | 'identifier'
  | 'keyword'
  | 'field'
  | 'variable'
  | 'dot'
  | 'nil'
  | 'bool'
  | 'number'
  | 'character'
  | 'string'
  | 'raw-string'
  | 'pipe'
  | 'declare'
  | 'assign'
  | 'left-paren'
  | 'right-paren'
  | 'other';

/**
 * The words of a Go template, in order. The last one is `eof`, or `error` with Go's text where the source cannot be
 * read any further. Trim markers and comments are already applied: the parser never sees them.
 */
export function tokenise(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let linesCountedTo = 0;

  const lineOf = (at: number) => {
    for (let next = source.indexOf('\n', linesCountedTo); next >= 0 && next < at;) {
      line += 1;
      linesCountedTo = next + 1;
      next = source.indexOf('\n', linesCountedTo);
    }
    return line;
  };
  const push = (type: TokenType, from: number, to: number, text = source.slice(from, to)) =>
    tokens.push({ type, text, at: from, line: lineOf(from) });

  let at = 0;
  while (at < source.length) {
    const open = source.indexOf('{{', at);
    const trimsBefore = open >= 0 && source[open + 2] === '-' && isSpace(source[open + 3]);
    const textEnd = open < 0 ? source.length : trimsBefore ? endWithoutSpace(source, at, open) : open;
    if (textEnd > at) push('text', at, textEnd);
    if (open < 0) break;

    const inside = open + (trimsBefore ? 4 : 2);
    if (source.startsWith('/*', inside)) {
      const close = source.indexOf('*/', inside + 2);
      const end = close < 0 ? undefined : closing(source, close + 2);
      if (!end) {
        push(
          'error',
          inside,
          inside,
          close < 0 ? 'unclosed comment' : 'comment ends before closing delimiter',
        );
        return tokens;
      }
      at = end.next;
      continue;
    }

    push('left-delimiter', open, open + 2);
    const action = tokeniseAction(source, inside, push);
    if (action === 'failed') return tokens;
    at = action;
  }
  push('eof', source.length, source.length, 'EOF');
  return tokens;
}

type Push = (type: TokenType, from: number, to: number, text?: string) => void;

/** Pushes the words of one action; returns where the text after it begins. */
function tokeniseAction(source: string, from: number, push: Push): number | 'failed' {
  const fail = (at: number, message: string) => {
    push('error', at, at, message);
    return 'failed' as const;
  };
  let at = from;
  let parens = 0;

  for (;;) {
    const end = closing(source, at);
    if (end) {
      if (parens > 0) return fail(at, 'unclosed left paren');
      push('right-delimiter', end.delimiter, end.delimiter + 2);
      return end.next;
    }
    if (at >= source.length) return fail(at, 'unclosed action');

    if (isSpace(source[at])) {
      let to = at + 1;
      // A space that begins " -}}" belongs to the delimiter.
      while (isSpace(source[to]) && !closing(source, to)) to += 1;
      push('space', at, to);
      at = to;
      continue;
    }

    if (source[at] === '(') parens += 1;
    if (source[at] === ')') parens -= 1;
    if (parens < 0) return fail(at, 'unexpected right paren');

    const word = nextWord(source, at);
    if ('error' in word) return fail(at, word.error);
    push(word.type, at, word.to);
    at = word.to;
  }
}

type Word = { readonly type: TokenType; readonly to: number } | { readonly error: string };

const keywords = new Set([
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'template',
  'with',
]);
const single: Readonly<Record<string, TokenType>> = {
  '=': 'assign',
  '|': 'pipe',
  '(': 'left-paren',
  ')': 'right-paren',
};

function nextWord(source: string, at: number): Word {
  const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
  const type = single[character];
  if (type) return { type, to: at + 1 };

  switch (character) {
    case ':':
      return source[at + 1] === '=' ? { type: 'declare', to: at + 2 } : { error: 'expected :=' };
    case '"':
      return quoted(source, at, '"', 'string', 'unterminated quoted string');
    case "'":
      return quoted(source, at, "'", 'character', 'unterminated character constant');
    case '`': {
      const close = source.indexOf('`', at + 1);
      return close < 0 ? { error: 'unterminated raw quoted string' } : { type: 'raw-string', to: close + 1 };
    }
    case '$':
      return name(source, at, 'variable', 'variable');
    default:
  }
  if (character === '.' && /[^0-9]/.test(source[at + 1] ?? '')) return name(source, at, 'field', 'dot');
  if (/[-+.0-9]/.test(character)) return number(source, at);
  if (isAlphaNumeric(character)) return identifier(source, at);
  if (/[\x20-\x7e]/.test(character)) return { type: 'other', to: at + 1 };
  return { error: `unrecognized character in action: ${unicodeName(character)}` };
}

/** `.Name` or `$name`; alone, the sign itself. */
function name(source: string, at: number, type: TokenType, alone: TokenType): Word {
  const to = endOfName(source, at + 1);
  if (!isTerminated(source, to)) return badCharacter(source, to);
  return { type: to === at + 1 ? alone : type, to };
}

function identifier(source: string, at: number): Word {
  const to = endOfName(source, at);
  if (!isTerminated(source, to)) return badCharacter(source, to);
  const word = source.slice(at, to);
  if (keywords.has(word)) return { type: 'keyword', to };
  if (word === 'nil') return { type: 'nil', to };
  return { type: word === 'true' || word === 'false' ? 'bool' : 'identifier', to };
}

const badCharacter = (source: string, at: number): Word => ({
  error: `bad character ${unicodeName(String.fromCodePoint(source.codePointAt(at) ?? 0))}`,
});

/** Only the outline of a number; whether it is one is decided where it is read. */
const numberOutline =
  /[-+]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][-+]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9_]*)?)i?/y;

function number(source: string, at: number): Word {
  const to = endOfNumber(source, at);
  // A sign behind a number begins a complex constant in Go, the one kind of literal this renderer leaves out.
  const isComplex = source[to] === '+' || source[to] === '-';
  const end = isComplex ? endOfNumber(source, to) : to;
  const next = String.fromCodePoint(source.codePointAt(end) ?? 0);
  if (!isComplex && !isAlphaNumeric(next)) return { type: 'number', to };
  return {
    error: `bad number syntax: ${goQuote(source.slice(at, end) + (isAlphaNumeric(next) ? next : ''))}`,
  };
}

function endOfNumber(source: string, from: number): number {
  numberOutline.lastIndex = from;
  return from + (numberOutline.exec(source)?.[0].length ?? 0);
}

function quoted(source: string, at: number, quote: string, type: TokenType, unterminated: string): Word {
  for (let to = at + 1; to < source.length && source[to] !== '\n'; to += 1) {
    if (source[to] === quote) return { type, to: to + 1 };
    if (source[to] === '\\') {
      to += 1;
      if (source[to] === '\n') break;
    }
  }
  return { error: unterminated };
}

/** Whether an action ends at `at`: where its delimiter is, and where the text behind it (trimmed if asked) begins. */
function closing(source: string, at: number): { delimiter: number; next: number } | undefined {
  if (source.startsWith('}}', at)) return { delimiter: at, next: at + 2 };
  if (!isSpace(source[at]) || !source.startsWith('-}}', at + 1)) return undefined;
  let next = at + 4;
  while (isSpace(source[next])) next += 1;
  return { delimiter: at + 2, next };
}

function endWithoutSpace(source: string, from: number, to: number): number {
  let end = to;
  while (end > from && isSpace(source[end - 1])) end -= 1;
  return end;
}

const nameOutline = /[_\p{L}\p{Nd}]*/uy;

function endOfName(source: string, from: number): number {
  nameOutline.lastIndex = from;
  return from + (nameOutline.exec(source)?.[0].length ?? 0);
}

/** What may follow a name; it splits `.X.Y` in two and leaves room for arithmetic Go never added. */
const isTerminated = (source: string, at: number) =>
  at >= source.length || /[ \t\r\n.,|:()]/.test(source[at] ?? '') || source.startsWith('}}', at);

const isSpace = (character: string | undefined) =>
  character === ' ' || character === '\t' || character === '\r' || character === '\n';

const isAlphaNumeric = (character: string) => /^[_\p{L}\p{Nd}]$/u.test(character);
