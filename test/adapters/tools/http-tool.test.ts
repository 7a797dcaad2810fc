import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import type { ResolvedHttpTool } from '../../../src/activities/ports.ts';
import { createHttpTools } from '../../../src/adapters/tools/http-tool.ts';
import { RemoteError } from '../../../src/adapters/remote-error.ts';

const tools = createHttpTools();
const started: (Server | TcpServer)[] = [];
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await Promise.all(started.splice(0).map((each) => new Promise((closed) => each.close(closed))));
});
afterAll(() => tools.close());

async function listening(listener: Server | TcpServer): Promise<string> {
  started.push(listener);
  listener.on('connection', (socket: Socket) => sockets.add(socket));
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that answers by `answer` and remembers what it was asked. */
async function server(answer: RequestListener = (_, response) => response.end('ok')) {
  const seen: Seen[] = [];
  const url = await listening(
    createServer((request, response) => {
      const { method, url: path, headers } = request;
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push({ method, url: path, headers, body: Buffer.concat(chunks).toString() });
        answer(request, response);
      });
    }),
  );
  return { url, seen };
}

const toolAt = (url: string, more: Partial<ResolvedHttpTool> = {}): ResolvedHttpTool => ({
  type: 'http',
  name: 'search',
  description: '',
  parameters: {},
  url,
  method: 'GET',
  headers: [],
  timeoutMs: 60_000,
  bodyParameters: {},
  repeatable: true,
  ...more,
});

const call = (
  tool: ResolvedHttpTool,
  args: Record<string, unknown> = {},
  signal: AbortSignal = new AbortController().signal,
) => tools.call(tool, args, { signal, idempotencyKey: 'key-1' });

async function failureOf(promise: Promise<unknown>): Promise<RemoteError> {
  const outcome = await promise.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (!(outcome instanceof RemoteError)) throw new Error('expected a RemoteError', { cause: outcome });
  return outcome;
}

describe('the URL', () => {
  const args = {
    city: 'São Paulo/SP',
    n: 1234567,
    big: 1e21,
    f: -0.0000001,
    yes: true,
    no: null,
    o: { k: 1 },
    l: [1, 'a'],
  };

  test.each([
    ['/w/{city}', '/w/S%C3%A3o+Paulo%2FSP'],
    ['/w?q={city}&again={city}', '/w?q=S%C3%A3o+Paulo%2FSP&again=S%C3%A3o+Paulo%2FSP'],
    ['/{n}/{big}/{f}', '/1234567/1000000000000000000000/-0.0000001'],
    ['/{yes}/{no}', '/true/%3Cnil%3E'],
    ['/?o={o}&l={l}', '/?o=%7B%22k%22%3A1%7D&l=%5B1%2C%22a%22%5D'],
    ['/?x={toString}&y={unknown}', '/?x={toString}&y={unknown}'],
    ['/?x={{.input.city}}&y={{.n}}', '/?x={{.input.city}}&y={{.n}}'],
    ['/plain', '/plain'],
  ])('%s asks for %s', async (pattern, path) => {
    const { url, seen } = await server();
    await call(toolAt(url + pattern), args);
    expect(seen).toMatchObject([{ url: path }]);
  });

  test('a value is never read as another placeholder', async () => {
    const { url, seen } = await server();
    await call(toolAt(`${url}/{a}`), { a: '{b}', b: 'x' });
    expect(seen).toMatchObject([{ url: '/%7Bb%7D' }]);
  });

  test.each(['not a url {a}', 'file:///etc/passwd', 'http://{a}:x/'])(
    '%s is refused before anything is sent',
    async (url) => {
      const failure = await failureOf(call(toolAt(url), { a: 'v' }));
      expect(failure).toMatchObject({ kind: 'template', sent: false });
      expect(failure.message).toMatch(/^failed to fetch URL: .*spec\.http\.url/);
    },
  );
});

const withBody = (url: string, method: ResolvedHttpTool['method'], body: string) =>
  toolAt(url, { method, body, bodyParameters: { token: 'secret-token' } });

describe('the body', () => {
  test.each(['POST', 'PUT', 'PATCH'] as const)(
    'of a %s is the template over the arguments and parameters',
    async (method) => {
      const { url, seen } = await server();
      await call(withBody(url, method, '{"c":"{{.input.city}}","t":"{{.token}}","x":"{{.none}}"}'), {
        city: 'a"b',
      });
      expect(seen).toMatchObject([{ method, body: '{"c":"a"b","t":"secret-token","x":"<no value>"}' }]);
      expect(seen[0]?.headers).not.toHaveProperty('content-type');
    },
  );

  test('is a template also where it has no parameters', async () => {
    const { url, seen } = await server();
    await call(toolAt(url, { method: 'POST', body: '{{.input.city}}{{if .none}}!{{end}}' }), { city: 'x' });
    expect(seen).toMatchObject([{ body: 'x' }]);
  });

  test.each(['GET', 'DELETE'] as const)('of a %s is empty', async (method) => {
    const { url, seen } = await server();
    await call(withBody(url, method, '{{.input.city}}'), { city: 'x' });
    expect(seen).toMatchObject([{ method, body: '' }]);
  });

  test('a parameter called input hides the arguments', async () => {
    const { url, seen } = await server();
    await call(toolAt(url, { method: 'POST', body: '{{.input}}', bodyParameters: { input: 'p' } }), { a: 1 });
    expect(seen).toMatchObject([{ body: 'p' }]);
  });

  test.each([
    [
      '{{.input',
      'failed to resolve body template: invalid template syntax in body: template: body:1: unclosed action',
    ],
    [
      '{{.token.x}}',
      'failed to resolve body template: body template execution failed: template: body:1:8: executing "body" at <.token.x>: can\'t evaluate field x in type interface {}',
    ],
  ])('%s fails before anything is sent', async (body, message) => {
    const { url, seen } = await server();
    expect(await failureOf(call(withBody(url, 'POST', body)))).toMatchObject({
      kind: 'template',
      sent: false,
      message,
    });
    expect(seen).toEqual([]);
  });

  test('that grows too large is refused', async () => {
    const { url } = await server();
    const failure = await failureOf(
      call(withBody(url, 'POST', '{{.input.x}}{{.input.x}}'), { x: 'x'.repeat(600_000) }),
    );
    expect(failure).toMatchObject({ kind: 'too-large', sent: false });
  });
});

describe('headers', () => {
  test('are set as given, with the idempotency key', async () => {
    const { url, seen } = await server();
    await call(toolAt(url, { headers: [{ name: 'X-Api-Key', value: 'k {{.x}}' }] }));
    expect(seen[0]?.headers).toMatchObject({ 'x-api-key': 'k {{.x}}', 'idempotency-key': 'key-1' });
  });

  test('of the tool win over ours; of two with one name the last counts', async () => {
    const { url, seen } = await server();
    const headers = [
      { name: 'idempotency-KEY', value: 'first' },
      { name: 'Idempotency-Key', value: 'own' },
    ];
    await call(toolAt(url, { headers }));
    expect(seen[0]?.headers['idempotency-key']).toBe('own');
  });

  test('credentials of the URL become one', async () => {
    const { url, seen } = await server();
    await call(toolAt(url.replace('http://', 'http://user:p%40ss@')));
    expect(seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  });
});

describe('the answer', () => {
  test.each([200, 201, 204, 304])('of status %d is its text', async (status) => {
    const { url } = await server((_, response) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end(),
    );
    expect(await call(toolAt(url))).toEqual({ content: '' });
  });

  test('is the body, whatever its type', async () => {
    const { url } = await server((_, response) => response.end('\ufeffhéllo\u0000{'));
    expect(await call(toolAt(url))).toEqual({ content: '\ufeffhéllo\u0000{' });
  });

  test.each([
    [400, 'HTTP error 400: 400 Bad Request'],
    [404, 'HTTP error 404: 404 Not Found'],
    [429, 'HTTP error 429: 429 Too Many Requests'],
    [503, 'HTTP error 503: 503 Service Unavailable'],
    [599, 'HTTP error 599: 599 unknown'],
  ])('of status %d is an error', async (status, message) => {
    const { url } = await server((_, response) => response.writeHead(status).end('secret details'));
    expect(await failureOf(call(toolAt(url)))).toMatchObject({ kind: 'status', status, message, sent: true });
  });

  test('says how long to wait', async () => {
    const { url } = await server((_, response) => response.writeHead(429, { 'Retry-After': '3' }).end());
    expect(await failureOf(call(toolAt(url)))).toMatchObject({ retryAfterMs: 3_000 });
  });

  test('of exactly 1 MiB is kept whole', async () => {
    const { url } = await server((_, response) => response.end('x'.repeat(1024 * 1024)));
    expect((await call(toolAt(url))).content).toBe('x'.repeat(1024 * 1024));
  });

  test.each([0, 1, 2, 3])(
    'that is longer is cut between characters and says so (%d bytes before)',
    async (offset) => {
      const text = 'x'.repeat(offset) + '😀'.repeat(500_000);
      const { url } = await server((_, response) => response.end(text));

      const { content } = await call(toolAt(url));
      const [, kept = '', missing] = /^([^…]*)…\[truncated: (\d+) bytes\]$/.exec(content) ?? [];
      expect(text.startsWith(kept)).toBe(true);
      expect(Buffer.byteLength(kept) + Number(missing)).toBe(Buffer.byteLength(text));
      expect(Buffer.byteLength(content)).toBeLessThanOrEqual(1024 * 1024);
      expect(Buffer.byteLength(content)).toBeGreaterThan(1024 * 1024 - 100);
    },
  );

  test('that never ends is cut, too', async () => {
    const { url } = await server((_, response) => {
      const chunk = Buffer.alloc(256 * 1024, 'y');
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    expect((await call(toolAt(url))).content).toMatch(/^y{1048512}…\[truncated: more than \d+ bytes\]$/);
  });
});

describe('redirects', () => {
  test.each([
    [301, 'POST', 'GET', ''],
    [302, 'PUT', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [307, 'POST', 'POST', 'b'],
    [308, 'PATCH', 'PATCH', 'b'],
  ] as const)('%d turns a %s into a %s', async (status, method, then, body) => {
    const { url, seen } = await server((request, response) => {
      if (request.url === '/from') response.writeHead(status, { location: '/to?x=1' }).end('moved');
      else response.end('there');
    });
    expect(await call(toolAt(`${url}/from`, { method, body: 'b' }))).toEqual({ content: 'there' });
    expect(seen).toMatchObject([{ method }, { method: then, url: '/to?x=1', body }]);
  });

  test('ten are followed, the eleventh is not', async () => {
    const { url, seen } = await server((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end();
      else response.end('there');
    });
    expect(await call(toolAt(`${url}/10`))).toEqual({ content: 'there' });
    expect(await failureOf(call(toolAt(`${url}/11`)))).toMatchObject({
      kind: 'network',
      sent: true,
      message: `failed to fetch URL: GET ${url}/11: stopped after 10 redirects`,
    });
    expect(seen).toHaveLength(22);
  });

  test('without a location the answer is what it is', async () => {
    const { url } = await server((_, response) => response.writeHead(302).end('nowhere'));
    expect(await call(toolAt(url))).toEqual({ content: 'nowhere' });
  });

  test("to another host take none of the tool's headers along", async () => {
    const elsewhere = await server();
    const home = await server((request, response) =>
      request.url === '/away'
        ? response.writeHead(307, { location: elsewhere.url.replace('127.0.0.1', 'localhost') }).end()
        : response.writeHead(307, { location: '/away' }).end(),
    );
    const headers = [
      { name: 'X-Api-Key', value: 'secret' },
      { name: 'Content-Type', value: 'text/plain' },
    ];
    await call(toolAt(home.url, { method: 'POST', headers }));
    expect(home.seen[1]?.headers).toMatchObject({ 'x-api-key': 'secret' });
    expect(elsewhere.seen[0]?.headers).toMatchObject({
      'content-type': 'text/plain',
      'idempotency-key': 'key-1',
    });
    expect(elsewhere.seen[0]?.headers).not.toHaveProperty('x-api-key');
  });
});

/** Longer than a name may be: no server of names is asked, which could take its time. */
const nowhere = `http://${'x'.repeat(64)}.invalid`;

describe('what the network does', () => {
  test('a refused connection was not sent', async () => {
    const url = await listening(createTcpServer());
    await new Promise((closed) => started.pop()?.close(closed));
    expect(await failureOf(call(toolAt(`${url}/p?k=v`)))).toMatchObject({
      kind: 'network',
      sent: false,
      message: `failed to fetch URL: GET ${url}/p: connect ECONNREFUSED ${url.slice('http://'.length)}`,
    });
  });

  test('an unknown host was not sent', async () => {
    const failure = await failureOf(call(toolAt(`${nowhere}/`)));
    expect(failure).toMatchObject({ kind: 'network', sent: false });
    expect(failure.message).toMatch(/^failed to fetch URL: GET http:\/\/x+\.invalid\/: getaddrinfo /);
  });

  test('a server that speaks no TLS was not sent anything', async () => {
    const url = await listening(createTcpServer((socket) => socket.end('no\n')));
    expect(await failureOf(call(toolAt(url.replace('http', 'https'))))).toMatchObject({
      kind: 'network',
      sent: false,
    });
  });

  test('a connection cut before the answer may have reached the tool', async () => {
    const url = await listening(createTcpServer((socket) => socket.once('data', () => socket.destroy())));
    const failure = await failureOf(call(toolAt(url)));
    expect(failure).toMatchObject({ kind: 'network', sent: true });
    expect(failure.message).toMatch(/^failed to fetch URL: GET http/);
  });

  test('a connection cut within the answer is an error, not half an answer', async () => {
    const { url } = await server((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    expect(await failureOf(call(toolAt(url)))).toMatchObject({ kind: 'network', sent: true });
  });

  test('an answer that does not begin in time is a timeout', async () => {
    const { url } = await server(() => undefined);
    expect(await failureOf(call(toolAt(`${url}/slow`, { timeoutMs: 2_000 })))).toMatchObject({
      kind: 'timeout',
      sent: true,
      message: `failed to fetch URL: GET ${url}/slow: no answer within 2 s`,
    });
  });

  test('an answer that does not end in time is a timeout', async () => {
    const { url } = await server((_, response) => response.write('beginning'));
    expect(await failureOf(call(toolAt(url, { timeoutMs: 2_000 })))).toMatchObject({
      kind: 'timeout',
      sent: true,
    });
  });

  test('an abort rejects with its own reason and reaches the tool', async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { url } = await server((_, response) => {
      response.on('close', close);
      arrive();
    });
    const controller = new AbortController();
    const outcome = call(toolAt(url), {}, controller.signal).catch((error: unknown) => error);
    await arrived;
    const reason = new Error('cancelled by the run');
    controller.abort(reason);

    expect(await outcome).toBe(reason);
    await closed;
  });

  test('an abort that came first sends nothing', async () => {
    const { url, seen } = await server();
    const reason = new Error('too late');
    await expect(call(toolAt(url), {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(seen).toEqual([]);
  });

  test('connections are used again', async () => {
    const ports = new Set<number | undefined>();
    const { url } = await server((request, response) => {
      ports.add(request.socket.remotePort);
      response.end();
    });
    for (let calls = 0; calls < 5; calls += 1) await call(toolAt(url));
    expect(ports.size).toBeLessThan(5);
  });
});

test('no error holds a header, a body parameter, a credential or a query value', async () => {
  const canary = 'canary-5ecret';
  const cut = await listening(createTcpServer((socket) => socket.once('data', () => socket.destroy())));
  const failing = await server((_, response) => response.writeHead(500).end(canary));
  const silent = await server(() => undefined);
  const secretive = (url: string, more: Partial<ResolvedHttpTool> = {}) =>
    toolAt(`${url.replace('http://', `http://u:${canary}@`)}/p?key=${canary}`, {
      method: 'POST',
      headers: [{ name: 'Authorization', value: `Bearer ${canary}` }],
      body: '{{.token}}',
      bodyParameters: { token: canary },
      ...more,
    });

  const failures = await Promise.all(
    [
      secretive(cut),
      secretive(failing.url),
      secretive(silent.url, { timeoutMs: 2_000 }),
      secretive(nowhere),
      secretive(failing.url, { headers: [{ name: 'X', value: `${canary}\n` }] }),
      secretive(failing.url, { body: '{{range .token}}{{end}}' }),
      secretive(failing.url, { body: '{{.token.x}}' }),
      secretive('file://x'),
    ].map((tool) => failureOf(call(tool))),
  );
  expect(failures.map(({ kind }) => kind)).toEqual([
    'network',
    'status',
    'timeout',
    'network',
    'template',
    'template',
    'template',
    'template',
  ]);
  for (const failure of failures) {
    expect(failure.message + JSON.stringify(failure) + String(failure.stack)).not.toContain(canary);
    expect(failure.cause).toBeUndefined();
  }
});
