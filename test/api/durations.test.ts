import fc from 'fast-check';
import { formatDuration, parseDuration } from '../../src/api/durations.ts';

// Printed by Go's time.Duration.String().
const printedByGo: readonly (readonly [number, string])[] = [
  [0, '0s'],
  [0.000001, '1ns'],
  [0.0011, '1.1µs'],
  [0.002, '2µs'],
  [2.2, '2.2ms'],
  [812.4, '812.4ms'],
  [3_300, '3.3s'],
  [59_999.999999, '59.999999999s'],
  [60_000, '1m0s'],
  [90_000, '1m30s'],
  [245_000, '4m5s'],
  [245_001, '4m5.001s'],
  [3_600_000, '1h0m0s'],
  [18_367_001, '5h6m7.001s'],
  [2_592_000_000, '720h0m0s'],
  [-90_000, '-1m30s'],
  [-0.5, '-500µs'],
];

test.each(printedByGo)('%d ms is printed as %s, and read back', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
  expect(parseDuration(text)).toBeCloseTo(milliseconds, 6);
});

test.each([
  ['0', 0],
  ['-0', 0],
  ['+5m', 300_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['1.s', 1_000],
  ['1s1s', 2_000],
  ['300ms', 300],
  ['1us', 0.001],
  ['1µs', 0.001],
  ['1μs', 0.001],
  ['0.3333333333333333333h', 1_200_000],
  ['2562047h47m16.854s', 9_223_372_036_854],
])('%s means %d ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBeCloseTo(milliseconds, 3);
});

test.each([
  '',
  '3',
  '-',
  's',
  '.',
  '-.',
  '.s',
  '+.s',
  '1d',
  '5 m',
  ' 5m',
  '5m ',
  '1e3s',
  '5M',
  '\x85',
  '2562047h47m16.854775808s',
])('Go would refuse %j', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test('whatever is printed to the nanosecond is read back as the same', () => {
  fc.assert(
    fc.property(fc.integer({ min: -(10 ** 15), max: 10 ** 15 }), (nanoseconds) => {
      const text = formatDuration(nanoseconds / 1e6);
      const read = parseDuration(text);
      expect(read).toBeCloseTo(nanoseconds / 1e6, 6);
      expect(formatDuration(read ?? Number.NaN)).toBe(text);
    }),
  );
});

test('a sum of parts is read as their sum', () => {
  const part = fc.tuple(
    fc.nat(10_000),
    fc.constantFrom(
      ['h', 3_600_000] as const,
      ['m', 60_000] as const,
      ['s', 1_000] as const,
      ['ms', 1] as const,
    ),
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
      const text = parts.map(([count, [unit]]) => `${count}${unit}`).join('');
      const sum = parts.reduce((total, [count, [, milliseconds]]) => total + count * milliseconds, 0);
      expect(parseDuration(text)).toBe(sum);
    }),
  );
});

test('a long text of digits is refused in linear time', () => {
  expect(parseDuration('1'.repeat(100_000))).toBeUndefined();
});
