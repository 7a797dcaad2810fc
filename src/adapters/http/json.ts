import { RemoteError } from '../remote-error.ts';
import type { Body, Http, Limits } from './create-http.ts';
import { httpUrl, shownUrl, type HttpRequest } from './http-request.ts';

/** The most that is read of an answer in JSON, unless a caller says otherwise. */
export const jsonBytesMax = 4 * 1024 * 1024;

export type Headers = readonly { readonly name: string; readonly value: string }[];

interface JsonLimits extends Limits {
  readonly headers?: Headers;
  readonly bytesMax?: number;
}

/**
 * The JSON a GET is answered with. Beside what `send` rejects with, a RemoteError says `protocol` where the answer is no
 * JSON, `too-large` where it is longer than `bytesMax`, and `template` where the address is none.
 */
export async function getJson(
  http: Http,
  address: string,
  { headers, ...limits }: JsonLimits,
): Promise<unknown> {
  return exchange(http, jsonRequest('GET', address, { headers }), limits);
}

/** The JSON a POST of `content`, as JSON, is answered with; rejects as `getJson` does. */
export async function postJson(
  http: Http,
  address: string,
  content: unknown,
  { headers, ...limits }: JsonLimits,
): Promise<unknown> {
  return exchange(http, jsonRequest('POST', address, { headers, content }), limits);
}

/**
 * A request that speaks JSON. A caller's own headers win over ours; of two with one name the last counts. Throws a
 * RemoteError of kind `template` where the address is no http or https URL.
 */
export function jsonRequest(
  method: string,
  address: string,
  { headers = [], content }: { readonly headers?: Headers; readonly content?: unknown } = {},
): HttpRequest {
  const url = httpUrl(address);
  if (!url)
    throw new RemoteError('template', `${JSON.stringify(withoutSecrets(address))} is no http or https URL`, {
      sent: false,
    });
  const own = headers.map(({ name, value }) => [name.toLowerCase(), value] as const);
  return {
    url,
    method,
    headers: {
      'user-agent': 'arkwright',
      accept: 'application/json',
      ...(content !== undefined && { 'content-type': 'application/json' }),
      ...Object.fromEntries(own),
    },
    ...(content !== undefined && { body: JSON.stringify(content) }),
  };
}

async function exchange(
  http: Http,
  request: HttpRequest,
  { bytesMax = jsonBytesMax, ...limits }: Omit<JsonLimits, 'headers'>,
): Promise<unknown> {
  const text = await http.send(request, readUpTo(bytesMax, request), limits);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new RemoteError('protocol', `${shown(request)}: ${problemOf(text)}`, { sent: true });
  }
}

const readUpTo = (bytesMax: number, request: HttpRequest) => async (body: Body) => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax)
      throw new RemoteError('too-large', `${shown(request)}: the answer is longer than ${bytesMax} bytes`, {
        sent: true,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

/** Says nothing of the body itself: it may hold what only the caller should see. */
const problemOf = (text: string): string =>
  text.trim() === '' ? 'the answer is empty' : `the answer is not JSON (${text.length} characters)`;

const shown = ({ method, url }: HttpRequest): string => `${method} ${shownUrl(url)}`;

const withoutSecrets = (address: string) => (address.split('?')[0] ?? '').replace(/\/\/[^/@]*@/, '//');
