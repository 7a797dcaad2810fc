import { conceal } from '../../src/api/conceal.ts';

test.each([
  ['as it is', 'key k-1 is wrong', ['k-1'], 'key [redacted] is wrong'],
  ['with a newline it was stored with', 'key k-1 is wrong', ['k-1\n'], 'key [redacted] is wrong'],
  ['in a URL', 'GET /?key=a%2Fb', ['a/b'], 'GET /?key=[redacted]'],
  ['in JSON', String.raw`{"key":"a\"b"}`, ['a"b'], '{"key":"[redacted]"}'],
  [
    'as the host of an address',
    'getaddrinfo ENOTFOUND db.internal',
    ['http://db.internal/x'],
    'getaddrinfo ENOTFOUND [redacted]',
  ],
  ['where one begins another', 'token-long', ['token', 'token-long'], '[redacted]'],
])('a secret does not appear %s', (_, text, secrets, clean) => {
  expect(conceal(text, secrets)).toBe(clean);
});
