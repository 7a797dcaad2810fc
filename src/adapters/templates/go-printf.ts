import type { Output } from './budget.ts';
import { printValue, type Printable, type Spec } from './go-print.ts';
import { typeName } from './go-values.ts';

/** Go's bound for widths, precisions and argument numbers. */
const numberMax = 1_000_000;

/** Go's fmt.Sprintf, with its marks for every mistake: `%!d(string=hi)`, `%!s(MISSING)`, `%!(EXTRA int=1)`. */
export function printf(output: Output, format: string, values: readonly Printable[]): void {
  const state: State = { format, at: 0, values, next: 0, indexed: false, reordered: false, goodIndex: true };

  while (state.at < format.length) {
    const percent = format.indexOf('%', state.at);
    output.write(format.slice(state.at, percent < 0 ? undefined : percent));
    if (percent < 0) break;

    state.at = percent + 1;
    state.goodIndex = true;
    const spec = readSpec(state, output);
    if (state.at >= format.length) {
      output.write('%!(NOVERB)');
      break;
    }
    const verb = String.fromCodePoint(format.codePointAt(state.at) ?? 0);
    state.at += verb.length;

    if (verb === '%') output.write('%');
    else if (!state.goodIndex) output.write(`%!${verb}(BADINDEX)`);
    else if (state.next >= values.length) output.write(`%!${verb}(MISSING)`);
    else {
      printValue(output, values[state.next], verb, verb === 'v' || verb === 'w' ? forV(spec) : spec);
      state.next += 1;
    }
  }
  if (!state.reordered && state.next < values.length) printExtra(output, values.slice(state.next));
}

interface State {
  readonly format: string;
  at: number;
  readonly values: readonly Printable[];
  /** The argument the next verb takes. */
  next: number;
  /** An index like `[3]` stands right before. */
  indexed: boolean;
  reordered: boolean;
  goodIndex: boolean;
}

const forV = ({ sharp, plus, ...spec }: Spec): Spec => ({ ...spec, sharpV: sharp, plusV: plus });

const flags = { '#': 'sharp', '0': 'zero', '+': 'plus', '-': 'minus', ' ': 'space' } as const;

function readSpec(state: State, output: Output): Spec {
  const { format } = state;
  const spec: Spec = {};
  for (let flag = format[state.at]; flag !== undefined && flag in flags; flag = format[state.at]) {
    spec[flags[flag as keyof typeof flags]] = true;
    state.at += 1;
  }
  // A plain verb takes the next argument as it is, whatever an index may have said before.
  if (/[a-z]/.test(format[state.at] ?? '') && state.next < state.values.length) return spec;

  readIndex(state);
  if (format[state.at] === '*') {
    state.at += 1;
    const width = takeNumber(state);
    if (width === undefined) output.write('%!(BADWIDTH)');
    else spec.width = Math.abs(width);
    if (width !== undefined && width < 0) Object.assign(spec, { minus: true, zero: false });
    state.indexed = false;
  } else {
    const width = readNumber(state);
    if (width !== undefined) spec.width = width;
    if (state.indexed && width !== undefined) state.goodIndex = false;
  }

  if (format[state.at] === '.' && state.at + 1 < format.length) {
    state.at += 1;
    if (state.indexed) state.goodIndex = false;
    readIndex(state);
    if (format[state.at] === '*') {
      state.at += 1;
      const precision = takeNumber(state);
      if (precision === undefined || precision < 0) output.write('%!(BADPREC)');
      else spec.precision = precision;
      state.indexed = false;
    } else {
      spec.precision = readNumber(state) ?? 0;
    }
  }
  if (!state.indexed) readIndex(state);
  return spec;
}

/** `[n]` makes the n-th argument the next one. */
function readIndex(state: State): void {
  state.indexed = false;
  if (state.format[state.at] !== '[') return;
  state.reordered = true;

  const close = state.format.indexOf(']', state.at);
  if (close < 0) {
    state.goodIndex = false;
    state.at += 1;
    return;
  }
  const text = state.format.slice(state.at + 1, close);
  const index = /^\d{1,7}$/.test(text) ? Number(text) - 1 : -1;
  state.at = close + 1;
  state.indexed = /^\d{1,7}$/.test(text);
  if (index >= 0 && index < state.values.length) state.next = index;
  else state.goodIndex = false;
}

function readNumber(state: State): number | undefined {
  const digits = /^\d*/.exec(state.format.slice(state.at, state.at + 8))?.[0] ?? '';
  if (digits === '') return undefined;
  state.at += digits.length;
  if (Number(digits) <= numberMax) return Number(digits);
  // Go gives the whole rest of the format up.
  state.at = state.format.length;
  return undefined;
}

/** The next argument as a width or precision, if it is an int within bounds. */
function takeNumber(state: State): number | undefined {
  if (state.next >= state.values.length) return undefined;
  const value = state.values[state.next];
  state.next += 1;
  return typeof value === 'bigint' && value >= -numberMax && value <= numberMax ? Number(value) : undefined;
}

function printExtra(output: Output, values: readonly Printable[]): void {
  output.write('%!(EXTRA ');
  for (const [index, value] of values.entries()) {
    if (index > 0) output.write(', ');
    if (value !== undefined) output.write(`${typeName(value)}=`);
    printValue(output, value, 'v', {});
  }
  output.write(')');
}
