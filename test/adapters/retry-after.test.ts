import fc from 'fast-check';
import { retryAfterMaxMs, retryAfterMs } from '../../src/adapters/retry-after.ts';

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const wait = (headers: Record<string, string>) => retryAfterMs(new Headers(headers), nowMs);

test.each([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['fractions of a second', { 'retry-after': '0.25' }, 250],
  ['zero', { 'retry-after': '0' }, 0],
  ['milliseconds', { 'retry-after-ms': '1500' }, 1_500],
  ['milliseconds before seconds', { 'retry-after-ms': '20', 'retry-after': '1' }, 20],
  ['unreadable milliseconds, then seconds', { 'retry-after-ms': 'soon', 'retry-after': '1' }, 1_000],
  ['a date', { 'retry-after': new Date(nowMs + 9_000).toUTCString() }, 9_000],
  ['a date that has passed', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
  ['more than the bound', { 'retry-after': '86400' }, retryAfterMaxMs],
  ['a number beyond any double', { 'retry-after': '9'.repeat(400) }, retryAfterMaxMs],
  ['nothing', {}, undefined],
  ['a negative number', { 'retry-after': '-1' }, undefined],
  ['a word', { 'retry-after': 'later' }, undefined],
  ['an empty value', { 'retry-after': '' }, undefined],
])('reads %s', (_, headers, expected) => {
  expect(wait(headers as Record<string, string>)).toBe(expected);
});

const anyHeader = fc.oneof(
  fc.string(),
  fc.double().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
);

test('is never negative, never above the bound and never NaN, whatever the header says', () => {
  fc.assert(
    fc.property(anyHeader, fc.double({ noNaN: true }), (text, now) => {
      const ms = retryAfterMs({ get: () => text }, now);
      expect(ms === undefined || (ms >= 0 && ms <= retryAfterMaxMs)).toBe(true);
    }),
  );
});
