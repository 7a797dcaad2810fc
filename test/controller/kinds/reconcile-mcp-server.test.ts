import type { McpServerStatus } from '../../../src/api/mcp-server.ts';
import type { ListedTool, McpServerAddress } from '../../../src/controller/kinds/ports.ts';
import { reconcileMcpServer } from '../../../src/controller/kinds/reconcile-mcp-server.ts';
import { key, play, told } from './played.ts';

const spec = { address: { value: 'http://files/mcp' }, pollInterval: '1m' };
const read: ListedTool = { name: 'Read_File', description: 'Reads.', inputSchema: { type: 'object' } };
const write: ListedTool = { name: 'write_file' };

/** An MCPServer, `default/it`, that lists what it is told. */
function playServer(written: object = spec) {
  const world = play<McpServerStatus>(written);
  const asked: McpServerAddress[] = [];
  let list: () => readonly ListedTool[] = () => [read, write];
  const mcp = {
    async list(server: McpServerAddress) {
      asked.push(server);
      return list();
    },
  };
  return {
    world,
    asked,
    look: () => reconcileMcpServer(key, { ...world.ports, mcp }),
    lists(...tools: readonly ListedTool[]): void {
      list = () => tools;
    },
    fails(error: object): void {
      list = () => {
        throw error as Error;
      };
    },
  };
}

const ready = (count: number) => [
  'Discovering=False DiscoveryComplete: Tool discovery completed',
  `Ready=True ToolsDiscovered: Successfully discovered ${count} tools`,
];

test('a server is initialized, then its tools are Tools', async () => {
  const { world, asked, look } = playServer();
  expect(await look()).toEqual({ requeueAfterMs: 60_000 });

  expect(told(world.writes[0] ?? {})).toEqual([
    'Discovering=True Starting: Starting tool discovery process',
    'Ready=False Initializing: MCPServer is being initialized',
  ]);
  expect(told(world.status)).toEqual(ready(2));
  expect(world.status).toMatchObject({ resolvedAddress: 'http://files/mcp', toolCount: 2 });
  expect(world.status).not.toHaveProperty('message');
  expect(world.events).toEqual([
    { component: 'mcpserver-controller', reason: 'ToolDiscovery', message: 'tools discovered: 2' },
  ]);
  expect(asked).toEqual([
    { ...key, transport: 'http', timeoutMs: 30_000, address: 'http://files/mcp', headers: [] },
  ]);

  expect(world.offers.names()).toEqual(['it-read-file', 'it-write-file']);
  expect(world.offers.all.get('it-read-file')).toMatchObject({
    namespace: 'default',
    labels: { 'mcp/server': 'it' },
    owners: [
      {
        apiVersion: 'ark.mckinsey.com/v1alpha1',
        kind: 'MCPServer',
        name: 'it',
        uid: 'a-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    spec: {
      type: 'mcp',
      description: 'Reads.',
      inputSchema: { type: 'object' },
      mcp: { mcpServerRef: { name: 'it', namespace: 'default' }, toolName: 'Read_File' },
    },
  });
});

test.each([
  [{ type: 'object', properties: {}, required: [] }, { type: 'object' }],
  [{ properties: {}, required: [] }, undefined],
  [undefined, undefined],
  [
    { $schema: 'x', title: 't', type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: {} } },
    { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: {} } },
  ],
  [
    { additionalProperties: false, definitions: { a: { type: 'string' } } },
    { additionalProperties: false, definitions: { a: { type: 'string' } } },
  ],
])('a schema of %j becomes %j', async (inputSchema, kept) => {
  const { world, look, lists } = playServer();
  lists({ name: 't', inputSchema });
  await look();
  expect((world.offers.spec('it-t') as { inputSchema?: unknown }).inputSchema).toEqual(kept);
});

test('what a server says about a tool is kept, as far as it can be understood', async () => {
  const { world, look, lists } = playServer();
  const annotations = { title: 'T', idempotentHint: false, readOnlyHint: 'yes', other: 1 };
  lists({ name: 't', annotations });
  await look();
  expect(world.offers.spec('it-t')).toMatchObject({ annotations: { title: 'T', idempotentHint: false } });
  expect((world.offers.spec('it-t') as { annotations: object }).annotations).not.toHaveProperty('other');
});

const unconnected = [
  'Discovering=False ClientCreationFailed: Cannot attempt discovery due to client creation failure',
  'Ready=False ClientCreationFailed: Server not ready due to client creation failure',
];
const unresolved = [
  'Discovering=False AddressResolutionFailed: Cannot attempt discovery due to address resolution failure',
  'Ready=False AddressResolutionFailed: Server not ready due to address resolution failure',
];

describe('a server that cannot be asked says why', () => {
  const fromSecret = { valueFrom: { secretKeyRef: { name: 's', key: 'k' } } };

  test.each([
    [
      'an address that is not there',
      { ...spec, address: fromSecret },
      unresolved,
      /secrets "s" not found/,
      5,
    ],
    ['no address', { ...spec, address: {} }, unresolved, /must have either value or valueFrom/, 60],
    [
      'a header that is not there',
      { ...spec, headers: [{ name: 'X-A', value: fromSecret }] },
      unconnected,
      /failed to resolve header X-A: .*secrets "s" not found/,
      5,
    ],
    [
      'a header without a value',
      { ...spec, headers: [{ name: 'X-A', value: {} }] },
      unconnected,
      /failed to validate header X-A/,
      60,
    ],
  ])('for %s, and is looked at again', async (_, written, conditions, why, seconds) => {
    const { world, asked, look } = playServer(written);
    expect(await look()).toEqual({ requeueAfterMs: seconds * 1_000 });
    expect(told(world.status)).toEqual(conditions);
    expect(world.status.message).toMatch(why);
    expect(asked).toHaveLength(0);
  });

  test.each([
    ['was not reached', { message: 'fetch failed', sent: false }, unconnected],
    [
      'did not greet',
      { message: 'failed to initialize MCP client for http://a: 500', sent: true },
      unconnected,
    ],
    ['did not connect', { message: 'failed to start MCP transport for http://a', sent: true }, unconnected],
    [
      'did not list',
      { message: 'failed to list MCP tools: boom', sent: true },
      [
        'Discovering=True ServerConnectedAndToolListingFailed: failed to list MCP tools: boom',
        'Ready=False ToolListingFailed: Server not ready due to tool listing failure',
      ],
    ],
  ])('where it %s', async (_, error, conditions) => {
    const { world, look, fails } = playServer();
    fails(error);
    await look();
    expect(told(world.status)).toEqual(conditions);
    expect(world.status.message).toBe(error.message);
    expect(world.events).toEqual([]);
  });

  test('and does not tell an address from a Secret', async () => {
    const { world, look, fails } = playServer({ ...spec, address: fromSecret });
    world.writeSecret('s', { k: 'http://canary' });
    fails({ message: 'no answer from http://canary', sent: true });
    await look();
    expect(world.status.resolvedAddress).toBe('[in a Secret]');
    expect(JSON.stringify(world.writes)).not.toContain('canary');
  });

  test('and does not tell its headers', async () => {
    const { world, look, fails } = playServer({ ...spec, headers: [{ name: 'X-A', value: fromSecret }] });
    world.writeSecret('s', { k: 'canary' });
    fails({ message: 'bad header canary', sent: true });
    await look();
    expect(world.status.message).toBe('bad header [redacted]');
    expect(JSON.stringify(world.writes)).not.toContain('canary');
  });
});

test('a server that flaps keeps its Tools, and is asked again soon, then ever later', async () => {
  const { world, asked, look, fails, lists } = playServer();
  await look();
  fails({ message: 'fetch failed', sent: false });
  world.pass(60_000);

  const waits: number[] = [];
  for (let poll = 0; poll < 6; poll++) {
    const { requeueAfterMs } = (await look()) as { requeueAfterMs: number };
    waits.push(requeueAfterMs / 1_000);
    expect(world.offers.names()).toEqual(['it-read-file', 'it-write-file']);
    expect(world.status.toolCount).toBe(2);
    world.pass(requeueAfterMs);
  }
  expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
  expect(told(world.status)).toEqual(unconnected);
  expect(asked).toHaveLength(7);

  lists(read, write);
  await look();
  expect(told(world.status)).toEqual(ready(2));
  expect(world.offers.log).toEqual(['create it-read-file', 'create it-write-file']);
});

test('a poll that finds nothing new writes nothing, and is told as an Event', async () => {
  const { world, look } = playServer();
  await look();
  const written = world.writes.length;
  for (let poll = 0; poll < 3; poll++) {
    world.pass(60_000);
    await look();
  }
  expect(world.writes).toHaveLength(written);
  expect(world.events).toHaveLength(4);
  expect(world.offers.log).toHaveLength(2);
});

test('an event between two polls asks nobody', async () => {
  const { world, asked, look } = playServer();
  await look();
  world.pass(20_000);
  expect(await look()).toEqual({ requeueAfterMs: 40_000 });
  expect(asked).toHaveLength(1);
});

test('a server with another address, or a Secret that was written, is asked at once', async () => {
  const value = { valueFrom: { secretKeyRef: { name: 's', key: 'k' } } };
  const { world, asked, look } = playServer({ ...spec, headers: [{ name: 'X-A', value }] });
  world.writeSecret('s', { k: 'one' });
  await look();
  world.writeSecret('s', { k: 'two' });
  await look();
  world.change({ spec: { ...spec, address: { value: 'http://other' } } });
  await look();
  expect(asked.map(({ address, headers }) => [address, headers[0]?.value])).toEqual([
    ['http://files/mcp', 'one'],
    ['http://files/mcp', 'two'],
    ['http://other', undefined],
  ]);
});

test('a server that is polled once is asked again only for a reason', async () => {
  const { world, asked, look } = playServer({ ...spec, pollInterval: '0s' });
  for (let hour = 0; hour < 5; hour++) {
    expect(await look()).toEqual({ requeueAfterMs: 60_000 });
    world.pass(3_600_000);
  }
  expect(asked).toHaveLength(1);
});

describe('Tools', () => {
  test.each([
    ['Read_File', 'it-read-file'],
    ['a__b', 'it-a--b'],
    ['files.read', 'it-files.read'],
    ['Ünder/way', 'it-ünder/way'],
  ])('of a tool named %s are named %s', async (tool, name) => {
    const { world, look, lists } = playServer();
    lists({ name: tool });
    await look();
    expect(world.offers.names()).toEqual([name]);
  });

  test('that are offered no more are deleted, others are mended, and foreign ones left alone', async () => {
    const { world, look, lists } = playServer();
    world.offers.put('somebody-elses', { labels: { 'mcp/server': 'it' } });
    await look();
    lists({ ...read, description: 'Reads better.' });
    world.pass(60_000);
    await look();
    expect(world.offers.names()).toEqual(['it-read-file', 'somebody-elses']);
    expect(world.offers.spec('it-read-file')).toMatchObject({ description: 'Reads better.' });
    expect(told(world.status)).toEqual(ready(1));
  });

  test('that lost their label get it back', async () => {
    const { world, look } = playServer();
    await look();
    const tool = world.offers.all.get('it-read-file');
    world.offers.put('it-read-file', { ...tool, labels: {} });
    world.pass(60_000);
    await look();
    expect(world.offers.all.get('it-read-file')?.labels).toEqual({ 'mcp/server': 'it' });
  });

  test('of somebody else are not overwritten, and the condition says so', async () => {
    const { world, look } = playServer();
    world.offers.put('it-read-file', { spec: { type: 'http' } });
    await look();
    expect(world.offers.spec('it-read-file')).toEqual({ type: 'http' });
    // The others are made nonetheless.
    expect(world.offers.names()).toContain('it-write-file');
    expect(told(world.status)).toContain(
      'Ready=False ToolCreationFailed: Failed to create tools: default/it-read-file is there already and ' +
        'does not belong to the MCPServer it; rename one of them, or delete it',
    );
  });

  test('that are refused are said', async () => {
    const { world, look } = playServer();
    world.offers.refuse('name is no name');
    await look();
    expect(told(world.status)[1]).toBe(
      'Ready=False ToolCreationFailed: Failed to create tools: cannot create it-read-file: name is no name; ' +
        'cannot create it-write-file: name is no name',
    );
  });

  test('of one name are one Tool, and that is said', async () => {
    const { world, look, lists } = playServer();
    lists({ name: 'a_b' }, { name: 'A-B' });
    await look();
    expect(world.offers.spec('it-a-b')).toMatchObject({ mcp: { toolName: 'a_b' } });
    expect(told(world.status)[1]).toContain('several tools of the server would be the Tool it-a-b');
  });

  test('are no more than 500', async () => {
    const { world, look, lists } = playServer();
    lists(...Array.from({ length: 501 }, (_, n) => ({ name: `t${n}` })));
    await look();
    expect(world.offers.all.size).toBe(500);
    expect(told(world.status)[1]).toContain('the server has 501 tools; only the first 500 are offered');
  });
});

test('a condition keeps the time at which it turned', async () => {
  const { world, look, fails } = playServer();
  await look();
  const since = () => world.status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  expect(since()).toBe('2026-01-01T00:00:00Z');
  fails({ message: 'x', sent: false });
  world.pass(60_000);
  await look();
  expect(since()).toBe('2026-01-01T00:01:00Z');
  fails({ message: 'y', sent: true });
  world.pass(60_000);
  await look();
  expect(since()).toBe('2026-01-01T00:01:00Z');
});

test('a server that is gone is forgotten', async () => {
  const { world, asked, look } = playServer();
  await look();
  world.remove();
  expect(await look()).toBe('settled');
  expect(asked).toHaveLength(1);
});

test('a process that stops has learned nothing of the server', async () => {
  const { world, look, fails } = playServer();
  await look();
  const before = told(world.status);
  world.stop();
  fails({ message: 'aborted' });
  world.pass(60_000);
  await expect(look()).rejects.toThrow('stopped');
  expect(told(world.status)).toEqual(before);
});
