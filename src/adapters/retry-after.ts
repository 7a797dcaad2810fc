/** The longest a far side may ask us to stay away; a longer wish is cut to this. */
export const retryAfterMaxMs = 5 * 60_000;

/**
 * How long the far side asks us to wait before the next attempt, in milliseconds between 0 and `retryAfterMaxMs`;
 * undefined where it does not say, or says it unreadably.
 *
 * `retry-after-ms` (OpenAI and Azure) is the more precise and wins over `retry-after`, which holds seconds or an
 * HTTP date (RFC 9110, 10.2.3).
 */
export function retryAfterMs(
  headers: { get(name: string): string | null },
  nowMs: number,
): number | undefined {
  const exactMs = decimal(headers.get('retry-after-ms'));
  if (exactMs !== undefined) return bounded(exactMs);

  const retryAfter = headers.get('retry-after');
  const seconds = decimal(retryAfter);
  if (seconds !== undefined) return bounded(seconds * 1_000);

  const dateMs = httpDateMs(retryAfter);
  return dateMs === undefined ? undefined : bounded(dateMs - nowMs);
}

const bounded = (ms: number) => Math.min(Math.max(Math.ceil(ms), 0), retryAfterMaxMs);

/** RFC 9110 knows whole seconds only; fractions are sent all the same. */
function decimal(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

/** `Date.parse` reads many things as a date ("-1" is one in 2001); an HTTP date begins with its weekday. */
function httpDateMs(text: string | null): number | undefined {
  if (text === null || !/^\s*[A-Za-z]{3,9},? /.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
