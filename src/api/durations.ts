/** Go's durations (`1h30m`, `300ms`), the way every ARK resource writes a length of time. */

/** Matches what Go's time.ParseDuration reads, except that it cannot see an overflow; safe for RE2. */
export const durationPattern = /^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$/;

const nanosecondsPer = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5, micro sign
  μs: 1_000n, // U+03BC, Greek letter mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
} as const;

/** Go keeps a duration in a signed 64-bit count of nanoseconds: about 292 years. */
const longestNanoseconds = 2n ** 63n - 1n;

/** The milliseconds a Go duration means, or undefined where Go would refuse it. */
export function parseDuration(text: string): number | undefined {
  if (!durationPattern.test(text)) return undefined;

  let nanoseconds = 0n;
  for (const [, whole = '', fraction = '', unit = 's'] of text.matchAll(
    /([0-9]*)(?:\.([0-9]*))?([a-zµμ]+)/g,
  )) {
    const perUnit = nanosecondsPer[unit as keyof typeof nanosecondsPer];
    nanoseconds += BigInt(whole || '0') * perUnit;
    nanoseconds += (BigInt(fraction || '0') * perUnit) / 10n ** BigInt(fraction.length);
  }
  if (nanoseconds > longestNanoseconds) return undefined;

  const milliseconds = Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6;
  return text.startsWith('-') ? 0 - milliseconds : milliseconds;
}

/** What Go's time.Duration.String() prints for these milliseconds, to the nanosecond: `812.4ms`, `1m30s`. */
export function formatDuration(milliseconds: number): string {
  const whole = Math.trunc(milliseconds);
  const signed = BigInt(whole) * 1_000_000n + BigInt(Math.round((milliseconds - whole) * 1e6));
  const nanoseconds = signed < 0n ? -signed : signed;
  const sign = signed < 0n ? '-' : '';

  if (nanoseconds === 0n) return '0s';
  if (nanoseconds < nanosecondsPer.us) return `${sign}${nanoseconds}ns`;
  if (nanoseconds < nanosecondsPer.ms) return `${sign}${decimal(nanoseconds, 3)}µs`;
  if (nanoseconds < nanosecondsPer.s) return `${sign}${decimal(nanoseconds, 6)}ms`;

  const seconds = `${decimal(nanoseconds % nanosecondsPer.m, 9)}s`;
  const minutes = nanoseconds / nanosecondsPer.m;
  if (minutes === 0n) return sign + seconds;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** `value / 10^digits` without trailing zeros. */
function decimal(value: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits);
  const fraction = (value % scale).toString().padStart(digits, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / scale}` : `${value / scale}.${fraction}`;
}
