import { Readable } from 'node:stream';
import { httpUrl, type HttpRequest } from './http-request.ts';

/** Headers that may go to another host than the one asked: none of them can be a secret. */
const harmlessHeaders = new Set([
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'user-agent',
]);

/**
 * The request a redirect asks for, or undefined where the answer is none. As in Go, 301 to 303 turn into GET and 307
 * and 308 repeat the request. Unlike Go, which only drops well-known ones, no header of a caller's own follows to
 * another host or out of TLS: any of them may hold a Secret.
 */
export function redirected(request: HttpRequest, status: number, location = ''): HttpRequest | undefined {
  const repeats = status === 307 || status === 308;
  if (location === '' || (!repeats && status !== 301 && status !== 302 && status !== 303)) return undefined;
  if (repeats && request.body instanceof Readable) return undefined;
  const url = httpUrl(URL.parse(location, request.url.href)?.href ?? '');
  if (!url) return undefined;

  const staysHome =
    url.hostname === request.url.hostname && (url.protocol === 'https:' || request.url.protocol === 'http:');
  const headers = Object.entries(request.headers).filter(
    ([name]) =>
      (staysHome || harmlessHeaders.has(name)) && (repeats || !/^content-|^transfer-encoding$/.test(name)),
  );
  return {
    url,
    method: repeats ? request.method : 'GET',
    headers: Object.fromEntries(headers),
    ...(repeats && request.body !== undefined && { body: request.body }),
  };
}
