import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { RemoteError, ResolvedMcpServer } from '../../../src/activities/ports.ts';
import { createMcp } from '../../../src/adapters/mcp/create-mcp.ts';
import {
  startMcpServer,
  type McpServerOptions,
  type McpTool,
  type RunningMcpServer,
} from '../../fakes/mcp-server.ts';

const mcp = createMcp();
const running: RunningMcpServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});
afterAll(() => mcp.close());

const never = new AbortController().signal;
const tool = (name: string, run: McpTool['run']): McpTool => ({ name, description: `does ${name}`, run });
const say = (...texts: string[]) => ({ content: texts.map((text) => ({ type: 'text' as const, text })) });

async function start(options: Partial<McpServerOptions> = {}) {
  const { tools = [tool('echo', (args) => say(JSON.stringify(args)))], transport = 'http' } = options;
  const server = await startMcpServer({ ...options, tools, transport });
  running.push(server);
  return { server, at: address(server.url, { transport }) };
}

const address = (url: string, more: Partial<ResolvedMcpServer> = {}): ResolvedMcpServer => ({
  namespace: 'default',
  name: 'tools',
  transport: 'http',
  timeoutMs: 60_000,
  address: url,
  headers: [],
  ...more,
});
const call = (at: ResolvedMcpServer, name = 'echo', args = {}, signal = never, timeoutMs = 60_000) =>
  mcp.call(at, name, args, { signal, idempotencyKey: 'run:call-1', timeoutMs });
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => {
      const { kind, sent, status, message } = error as RemoteError;
      return { kind, sent, message, ...(status !== undefined && { status }) };
    },
  );
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

describe.each(['http', 'sse'] as const)('over %s', (transport) => {
  test('a tool is called with its arguments, every header and a key that outlives the attempt', async () => {
    const { server, at } = await start({ transport });
    const headers = [{ name: 'Authorization', value: 'Bearer canary' }];
    expect(await call({ ...at, headers }, 'echo', { city: 'Oslo' })).toEqual({ content: '{"city":"Oslo"}' });
    expect(server.calls).toEqual([
      { name: 'echo', args: { city: 'Oslo' }, meta: { 'arkwright/idempotency-key': 'run:call-1' } },
    ]);
    expect(server.requests.every((one) => one.headers.authorization === 'Bearer canary')).toBe(true);
    expect(server.requests.at(-1)?.headers['idempotency-key']).toBe('run:call-1');
  });

  test('the handshake says who we are, and that it is done', async () => {
    const { server, at } = await start({ transport });
    const named = createMcp({ version: '1.2.3' });
    await named.list(at, never);
    expect(server.clients).toEqual([{ name: 'arkwright', version: '1.2.3' }]);
    await named.close();
  });

  test.each([
    ['user:p%40ss@', [], 'Basic dXNlcjpwQHNz'],
    ['user:pass@', [{ name: 'Authorization', value: 'Bearer own' }], 'Bearer own'],
    [
      '',
      [
        { name: 'authorization', value: 'first' },
        { name: 'Authorization', value: 'last' },
      ],
      'last',
    ],
  ])('an address %s… with headers %j authorises itself by %s', async (userinfo, headers, said) => {
    const { server, at } = await start({ transport });
    await call({ ...at, address: at.address.replace('//', `//${userinfo}`), headers });
    expect(new Set(server.requests.map((one) => one.headers.authorization))).toEqual(new Set([said]));
  });

  test('calls share a session, other headers have another', async () => {
    const { server, at } = await start({ transport });
    await Promise.all([call(at), call(at), mcp.list(at, never)]);
    await call(at);
    expect(server.sessions()).toBe(1);
    await call({ ...at, headers: [{ name: 'x-user', value: 'b' }] });
    expect(server.sessions()).toBe(2);
  });

  test('all pages of tools are listed', async () => {
    const names = Array.from({ length: 7 }, (_, i) => `t${i}`);
    const inputSchema = { properties: { city: { type: 'string' } }, required: ['city'] };
    const tools = names.map((name) => ({
      ...tool(name, () => say()),
      inputSchema,
      annotations: { readOnlyHint: true },
    }));
    const { at } = await start({ transport, tools, pageSize: 3 });
    expect(await mcp.list(at, never)).toEqual(
      names.map((name) => ({
        name,
        description: `does ${name}`,
        inputSchema: { type: 'object', ...inputSchema },
        annotations: { readOnlyHint: true },
      })),
    );
  });

  test('pages that take their time are all listed', async () => {
    const tools = Array.from({ length: 5 }, (_, i) => tool(`t${i}`, () => say()));
    const { at } = await start({ transport, tools, pageSize: 1, pageMs: 100 });
    expect(await mcp.list(at, never)).toHaveLength(5);
  });

  test.each([
    ['a thousand tools', 1_001, 2_000],
    ['64 pages', 65, 1],
  ])('of more than %s none is listed', async (_, count, pageSize) => {
    const tools = Array.from({ length: count }, (__, i) => tool(`t${i}`, () => say()));
    const { at } = await start({ transport, tools, pageSize });
    expect(await failureOf(mcp.list(at, never))).toMatchObject({
      kind: 'protocol',
      message: 'failed to list MCP tools: the server has more than 1000 tools or 64 pages of them',
    });
  });

  test('a call that is aborted ends, and others on the connection go on', async () => {
    const gate = Promise.withResolvers<void>();
    const tools = [
      tool('echo', () => new Promise(() => undefined)),
      tool('wait', () => gate.promise.then(() => say('done'))),
    ];
    const { server, at } = await start({ transport, tools });
    const wish = new AbortController();
    const other = call(at, 'wait');
    const end = call(at, 'echo', {}, wish.signal);
    while (server.calls.length < 2) await new Promise(setImmediate);
    wish.abort(new Error('no longer wanted'));
    await expect(end).rejects.toThrow('no longer wanted');
    gate.resolve();
    expect(await other).toEqual({ content: 'done' });
    expect(server.sessions()).toBe(1);
  });

  test('a connection cut during a call is known to have been used, and the next call has a new one', async () => {
    let cuts = 1;
    const tools = [
      tool('echo', () => {
        if (cuts-- > 0) server.cut();
        return say('fine');
      }),
    ];
    const { server, at } = await start({ transport, tools });
    expect(await failureOf(call(at))).toMatchObject({ kind: 'network', sent: true });
    expect(server.calls).toHaveLength(1);
    expect(await call(at)).toEqual({ content: 'fine' });
    expect(server.sessions()).toBe(2);
  });

  test('a call that takes too long says so', async () => {
    const { at } = await start({ transport, tools: [tool('echo', () => new Promise(() => undefined))] });
    expect(await failureOf(call(at, 'echo', {}, never, 2_000))).toEqual({
      kind: 'timeout',
      sent: true,
      message: 'failed to call MCP tool echo: no answer within 2 s',
    });
  });

  test('a server that refuses to be called leaves the tool untouched', async () => {
    const { server, at } = await start({ transport, refuse: () => 503 });
    const stage =
      transport === 'sse' ? 'failed to start MCP transport for' : 'failed to initialize MCP client for';
    const problem =
      transport === 'sse' ? '503 Service Unavailable' : 'transport error: 503 Service Unavailable';
    expect(await failureOf(call({ ...at, address: `${server.url}?key=canary` }))).toEqual({
      kind: 'status',
      status: 503,
      sent: false,
      message: `${stage} ${server.url}: ${problem}`,
    });
  });

  test('nobody listens', async () => {
    const url = `http://127.0.0.1:${await freePort()}/mcp`;
    const failure = await failureOf(call(address(url, { transport })));
    expect(failure).toMatchObject({ kind: 'network', sent: false });
    expect(failure?.message).toMatch(
      /^failed to (start MCP transport|initialize MCP client) for .*ECONNREFUSED/,
    );
  });
});

describe('the result', () => {
  const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' };
  test.each([
    ['texts without separator', say('a', 'b'), { content: 'ab' }],
    [
      'other parts as JSON',
      { content: [...say('a').content, image] },
      { content: `a${JSON.stringify(image, null, 2)}` },
    ],
    ['an error as such', { ...say('broken'), isError: true }, { content: 'broken', isError: true }],
    ['structure beside text is not repeated', { ...say('4'), structuredContent: { c: 4 } }, { content: '4' }],
    ['structure alone', { content: [], structuredContent: { c: 4 } }, { content: '{\n  "c": 4\n}' }],
    ['nothing', { content: [] }, { content: '' }],
  ])('%s', async (_, result, content) => {
    const { at } = await start({ tools: [tool('echo', () => result)] });
    expect(await call(at)).toEqual(content);
  });

  test('is cut at a megabyte, visibly', async () => {
    const { at } = await start({ tools: [tool('echo', () => say('x'.repeat(1024 * 1024 + 100)))] });
    const { content } = await call(at);
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(1024 * 1024);
    expect(content).toMatch(/x…\[truncated: \d+ bytes\]$/);
  });
});

test('an error of the protocol is a refusal, in its words, and the session goes on', async () => {
  const { server, at } = await start();
  expect(await failureOf(call(at, 'nothing'))).toEqual({
    kind: 'refused',
    sent: true,
    message: 'no tool nothing',
  });
  await call(at);
  expect(server.sessions()).toBe(1);
});

test('a session that the server forgot is opened again, once', async () => {
  const { server, at } = await start();
  await call(at);
  server.forgetSessions();
  await call(at);
  expect(server.sessions()).toBe(2);
  expect(server.calls).toHaveLength(2);
});

test('a server that hung up in between is connected to anew', async () => {
  const { server, at } = await start({ transport: 'sse' });
  await call(at);
  server.cut();
  // Until the loss is known, a call may still be given to the lost connection.
  const ends = [];
  do ends.push(await failureOf(call(at)));
  while (server.sessions() === 1);
  expect(ends.at(-1)).toBeUndefined();
  expect(ends.slice(0, -1).map((failure) => failure?.kind)).toEqual(ends.slice(1).map(() => 'network'));
});

test('a connection that idles is closed', async () => {
  const hasty = createMcp({ idleTimeoutMs: 50 });
  const { server, at } = await start();
  await hasty.call(at, 'echo', {}, { signal: never, idempotencyKey: 'k', timeoutMs: 60_000 });
  while (server.requests.at(-1)?.method !== 'DELETE') await new Promise((resolve) => setTimeout(resolve, 10));
  await hasty.close();
});

test.each([
  [
    { address: 'tools:80' },
    'MCP server default/tools: its address is no http or https URL; correct spec.address',
  ],
  [
    { headers: [{ name: 'x-key', value: 'canary\n' }] },
    'MCP server default/tools: header "x-key" cannot be sent; correct its value',
  ],
])('%j cannot be used, and shows no secret', async (more, message) => {
  expect(await failureOf(call(address('http://127.0.0.1:1/mcp', more)))).toEqual({
    kind: 'template',
    sent: false,
    message,
  });
});
