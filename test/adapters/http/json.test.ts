import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createHttp, inWords } from '../../../src/adapters/http/create-http.ts';
import { getJson, jsonRequest, postJson } from '../../../src/adapters/http/json.ts';
import { readCapped } from '../../../src/adapters/http/read-capped.ts';
import { RemoteError } from '../../../src/adapters/remote-error.ts';

const http = createHttp();
const servers: Server[] = [];
const limits = { signal: new AbortController().signal, timeoutMs: 60_000 };

afterAll(async () => {
  await http.close();
  await Promise.all(servers.map((each) => new Promise((closed) => each.close(closed))));
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers with what it was asked. */
const mirror = () =>
  serve(
    (request, response) =>
      void text(request).then((body) => {
        const { method, url, headers } = request;
        response.end(JSON.stringify({ method, url, headers, body }));
      }),
  );

test('content goes out as JSON, with the headers of the caller', async () => {
  const url = await mirror();
  const headers = [
    { name: 'X-Key', value: 'first' },
    { name: 'x-key', value: 'second' },
    { name: 'Accept', value: 'application/vnd.a+json' },
  ];
  expect(await postJson(http, `${url}/p?q=1`, { a: 'é' }, { ...limits, headers })).toMatchObject({
    method: 'POST',
    url: '/p?q=1',
    body: '{"a":"é"}',
    headers: {
      'content-type': 'application/json',
      accept: 'application/vnd.a+json',
      'x-key': 'second',
      'user-agent': 'arkwright',
    },
  });
});

test('a GET has no content', async () => {
  const seen = (await getJson(http, await mirror(), limits)) as { headers: object };
  expect(seen).toMatchObject({ method: 'GET', url: '/', body: '' });
  expect(seen.headers).not.toHaveProperty('content-type');
});

test('a stream is sent as it comes, and never twice', async () => {
  const url = await mirror();
  const request = { ...jsonRequest('POST', url), body: Readable.from(['{"a":1}\n', '{"b":2}\n']) };
  expect(JSON.parse(await http.send(request, readCapped, limits))).toMatchObject({
    body: '{"a":1}\n{"b":2}\n',
  });

  const moved = await serve((asked, response) => {
    asked.resume();
    asked.on('end', () => response.writeHead(307, { location: url }).end('moved'));
  });
  const again = { ...jsonRequest('POST', moved), body: Readable.from(['x']) };
  expect(await http.send(again, readCapped, limits)).toBe('moved');
});

describe('an answer that is none', () => {
  test.each([
    ['no JSON', 200, 'secret text', 'protocol', 'GET URL/p: the answer is not JSON (11 characters)'],
    ['empty', 200, '', 'protocol', 'GET URL/p: the answer is empty'],
    [
      'too long',
      200,
      JSON.stringify('x'.repeat(99)),
      'too-large',
      'GET URL/p: the answer is longer than 64 bytes',
    ],
    ['refused', 404, '{}', 'status', '404 Not Found'],
    ['not the one status agreed on', 202, '{}', 'status', '202 Accepted'],
  ])('%s', async (_, status, body, kind, message) => {
    const url = await serve((_request, response) => void response.writeHead(status).end(body));
    const outcome = getJson(http, `${url}/p?secret=1`, {
      ...limits,
      bytesMax: 64,
      isAnswer: (code) => code === 200,
    });
    await expect(outcome).rejects.toMatchObject({ kind, sent: true, message: message.replace('URL', url) });
  });

  test.each(['', 'host:80/p?secret', 'file:///etc/passwd', 'http://user:secret@x:port/'])(
    'the address %j is refused before anything is sent',
    async (address) => {
      const failure = await getJson(http, address, limits).catch((error: unknown) => error);
      expect(failure).toMatchObject({ kind: 'template', sent: false });
      expect(String(failure)).toMatch(/is no http or https URL$/);
      expect(String(failure)).not.toMatch(/secret/);
    },
  );
});

test('a failure keeps its facts in other words', () => {
  const failure = new RemoteError('status', '503 Service Unavailable', {
    sent: true,
    status: 503,
    retryAfterMs: 2_000,
  });
  const worded = inWords(failure, ({ status }) => `engine said ${status}`);
  expect(worded).toMatchObject({ ...failure, message: 'engine said 503' });
  expect(worded).toBeInstanceOf(RemoteError);

  const other = new Error('other');
  expect(inWords(other, () => 'never')).toBe(other);
});
