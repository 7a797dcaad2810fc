/** The reconcilers of kinds together, on a real API server, with a real MCP server and a model over HTTP. */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { createEventRecorder } from '../../../src/adapters/kubernetes/event-recorder.ts';
import { installInto } from '../../../src/adapters/install/install-into.ts';
import { connectKubernetes } from '../../../src/adapters/kubernetes/connection.ts';
import type { KubernetesConnection } from '../../../src/adapters/kubernetes/connection.ts';
import type { KubernetesObject } from '../../../src/adapters/kubernetes/objects.ts';
import { createResources } from '../../../src/adapters/kubernetes/resources.ts';
import type { Resources } from '../../../src/adapters/kubernetes/resources.ts';
import { createLogger } from '../../../src/adapters/telemetry/logger.ts';
import { createControllerMetrics, createRegistry } from '../../../src/adapters/telemetry/metrics.ts';
import { group, kinds } from '../../../src/api/kinds.ts';
import { runKinds, type Kinds } from '../../../src/controller/kinds/run-kinds.ts';
import { watchResources, type Watches } from '../../../src/controller/watch-resources.ts';
import { waitUntil } from '../../../src/dev/wait-until.ts';
import { startCluster } from '../../adapters/kubernetes/cluster.ts';
import type { Cluster } from '../../adapters/kubernetes/cluster.ts';
import { told } from './played.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- of as many shapes as there are kinds
type Anything = KubernetesObject<any, any> & { readonly data?: object; readonly reason?: string };

let cluster: Cluster;
let connection: KubernetesConnection;
/** With the rights that an installation gives to the controller, and no others. */
let own: KubernetesConnection;
let watches: Watches;
let running: Kinds;
const open: Server[] = [];

const timeoutMs = 120_000;

const of = (kind: string): Resources<Anything> => {
  const known = kinds.find((one) => one.kind === kind);
  if (known) return createResources<Anything>(connection, { group, ...known });
  return createResources<Anything>(connection, {
    group: '',
    version: 'v1',
    plural: `${kind.toLowerCase()}s`,
    kind,
  });
};
const at = (name: string) => ({ namespace: 'default', name });
const create = (kind: string, name: string, rest: object) =>
  of(kind).create({ metadata: at(name), ...rest } as never);

/** The object, as soon as it is as wanted. */
async function seen(kind: string, name: string, isWanted: (object: Anything) => boolean): Promise<Anything> {
  let object: Anything | undefined;
  await waitUntil(
    async () => {
      object = await of(kind).get(at(name));
      return isWanted(object);
    },
    { what: `${kind} ${name} as wanted`, timeoutMs },
  );
  return object as Anything;
}

async function listen(answer: (body: Anything, path: string) => object | number): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const reply = answer((text ? JSON.parse(text) : {}) as Anything, `${request.headers.authorization}`);
      response.writeHead(typeof reply === 'number' ? reply : 200, { 'content-type': 'application/json' });
      response.end(
        typeof reply === 'number' ? '{"error":{"message":"Incorrect API key"}}' : JSON.stringify(reply),
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function asController(): Promise<KubernetesConnection> {
  const account = '/api/v1/namespaces/arkwright-system/serviceaccounts/arkwright-controller';
  const { status } = await connection.request<{ status: { token: string } }>('POST', `${account}/token`, {
    what: 'get a token',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  const config = parse(await readFile(cluster.kubeconfig, 'utf8')) as { users: { user: object }[] };
  const kubeconfig = `${cluster.kubeconfig}-of-controller`;
  const users = config.users.map((user) => ({ ...user, user: { token: status.token } }));
  await writeFile(kubeconfig, stringify({ ...config, users }));
  return connectKubernetes({ kubeconfig });
}

beforeAll(async () => {
  cluster = await startCluster();
  ({ connection } = cluster);
  await installInto(connection, { tenants: [] });
  const options = {
    logger: createLogger({ level: 'silent', name: 'controller' }),
    metrics: createControllerMetrics(createRegistry()),
  };
  own = await asController();
  watches = watchResources(own, () => {}, {
    ...options,
    onDefinition: (resource, key) => running?.look(resource, key),
  });
  await watches.synced();
  running = runKinds(own, watches.definitions, { ...options, mayAct: () => true });
});

afterAll(async () => {
  await running?.stop();
  await watches?.stop();
  await own?.close();
  for (const server of open) server.close();
  await cluster?.stop();
});

describe('an MCPServer', () => {
  let isDown = false;
  let tools = [{ name: 'read_file', description: 'Reads.', inputSchema: { type: 'object' } }];
  let address: string;

  // A server of MCP over streamable HTTP that answers in JSON.
  beforeAll(async () => {
    address = await listen((body) => {
      const { id, method, params } = body as unknown as { id: number; method: string; params: object };
      if (isDown) return 503;
      const reply = (result: object) => ({ jsonrpc: '2.0', id, result });
      if (method === 'initialize') {
        const { protocolVersion } = params as { protocolVersion: string };
        return reply({
          protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'files', version: '1' },
        });
      }
      return method === 'tools/list' ? reply({ tools }) : 202;
    });
  });

  const isReady = (object: Anything) =>
    told(object.status ?? {}).some((line) => line.startsWith('Ready=True'));

  test('has its tools as Tools, which say that they are ready', async () => {
    await create('MCPServer', 'files', { spec: { address: { value: address }, pollInterval: '1s' } });
    const server = await seen('MCPServer', 'files', isReady);
    expect(server.status).toMatchObject({ toolCount: 1, resolvedAddress: address });

    const tool = await seen('Tool', 'files-read-file', ({ status }) => status?.state === 'Ready');
    expect(tool.status).toEqual({ state: 'Ready', message: 'Tool configuration is valid' });
    expect(tool.metadata).toMatchObject({
      labels: { 'mcp/server': 'files' },
      ownerReferences: [{ kind: 'MCPServer', name: 'files', uid: server.metadata.uid, controller: true }],
    });
    expect(tool.spec).toEqual({
      type: 'mcp',
      description: 'Reads.',
      inputSchema: { type: 'object' },
      mcp: { mcpServerRef: { name: 'files', namespace: 'default' }, toolName: 'read_file' },
    });
  });

  test('writes its status only when there is something new', async () => {
    const before = await of('MCPServer').get(at('files'));
    const events = async () =>
      (await of('Event').list({ namespace: 'default', fieldSelector: 'involvedObject.name=files' })).items;
    const seenBefore = (await events()).length;
    await waitUntil(async () => (await events()).length > seenBefore + 1, {
      what: 'two more polls',
      timeoutMs,
    });
    const after = await of('MCPServer').get(at('files'));
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect((await events()).at(-1)).toMatchObject({
      reason: 'ToolDiscovery',
      message: 'tools discovered: 1',
      source: { component: 'mcpserver-controller' },
    });
  });

  test('that flaps keeps its Tools', async () => {
    const { uid } = (await of('Tool').get(at('files-read-file'))).metadata;
    isDown = true;
    const server = await seen('MCPServer', 'files', (object) => !isReady(object));
    expect(server.status.toolCount).toBe(1);
    expect((await of('Tool').get(at('files-read-file'))).metadata.uid).toBe(uid);

    isDown = false;
    await seen('MCPServer', 'files', isReady);
    expect((await of('Tool').get(at('files-read-file'))).metadata.uid).toBe(uid);
  });

  test('does not overwrite a Tool of somebody else, and says so', async () => {
    const spec = { type: 'http', http: { url: 'http://mine', method: 'GET' } };
    await create('Tool', 'files-write-file', { spec });
    tools = [...tools, { name: 'write_file', description: 'Writes.', inputSchema: { type: 'object' } }];
    const server = await seen('MCPServer', 'files', (object) => !isReady(object));
    expect(told(server.status)).toContain(
      'Ready=False ToolCreationFailed: Failed to create tools: default/files-write-file is there already and ' +
        'does not belong to the MCPServer files; rename one of them, or delete it',
    );
    expect((await of('Tool').get(at('files-write-file'))).spec).toEqual(spec);

    await of('Tool').remove(at('files-write-file'));
    await seen('MCPServer', 'files', isReady);
    expect((await of('Tool').get(at('files-write-file'))).spec.type).toBe('mcp');
  });

  test('mends a Tool that was changed by hand, and deletes what is offered no more', async () => {
    await of('Tool').mergePatch(at('files-read-file'), {
      metadata: { labels: { 'mcp/server': null, mine: 'too' } },
      spec: { description: 'Changed.', inputSchema: { properties: { a: { type: 'string' } } } },
    });
    const tool = await seen('Tool', 'files-read-file', ({ spec }) => spec.description === 'Reads.');
    expect(tool.spec.inputSchema).toEqual({ type: 'object' });
    expect(tool.metadata.labels).toEqual({ 'mcp/server': 'files', mine: 'too' });

    tools = tools.slice(0, 1);
    const isGone = async () => (await of('Tool').list({ namespace: 'default' })).items.length === 1;
    await waitUntil(isGone, { what: 'one Tool left', timeoutMs });
  });
});

describe('a Model', () => {
  const asked: string[] = [];
  const secret = (key: string) => ({ llm: Buffer.from(key).toString('base64') });

  test('is asked again when its Secret has changed, and conflicts do no harm', async () => {
    const baseUrl = await listen((_, authorization) => {
      asked.push(authorization);
      if (authorization !== 'Bearer right') return 401;
      const message = { role: 'assistant', content: 'Hi' };
      return { id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    });
    await create('Secret', 'keys', { data: secret('canary') });
    const apiKey = { valueFrom: { secretKeyRef: { name: 'keys', key: 'llm' } } };
    const spec = {
      type: 'openai',
      model: { value: 'm' },
      config: { openai: { baseUrl: { value: baseUrl }, apiKey } },
    };
    await create('Model', 'm', { spec });
    const failed = await seen('Model', 'm', ({ status }) => status?.phase === 'error');
    expect(failed.status.message).toContain('Incorrect API key');
    expect(JSON.stringify(failed)).not.toContain('canary');

    // Somebody else writes the object all the while.
    const enough = new AbortController();
    const writer = (async () => {
      for (let n = 0; !enough.signal.aborted; n++) {
        const patch = { metadata: { labels: { n: `${n}` } } };
        await of('Model')
          .mergePatch(at('m'), patch)
          .catch(() => {});
        await pause(20);
      }
    })();
    await of('Secret').mergePatch(at('keys'), { data: secret('right') });
    const ready = await seen('Model', 'm', ({ status }) => status?.phase === 'ready');
    enough.abort();
    await writer;
    expect(ready.status).toMatchObject({ resolvedAddress: baseUrl, probe: { failures: 0 } });
    expect(ready.status).not.toHaveProperty('message');
    // The wrong key may have been tried again, as after every failure.
    expect(asked.slice(asked.indexOf('Bearer right'))).toEqual(['Bearer right']);
    const askedMax = asked.length;

    // It was written often, and asked once.
    await of('Model').mergePatch(at('m'), { metadata: { annotations: { touched: 'yes' } } });
    await create('Memory', 'later', { spec: { address: { value: 'http://memory' } } });
    await seen('Memory', 'later', ({ status }) => status?.phase === 'ready');
    expect(asked).toHaveLength(askedMax);
  });
});

test('a Memory follows its Service, and says so', async () => {
  const serviceRef = { name: 'memory', port: 'http' };
  await create('Memory', 'follows', { spec: { address: { valueFrom: { serviceRef } } } });
  const lost = await seen('Memory', 'follows', ({ status }) => status?.phase === 'error');
  expect(lost.status.message).toBe(
    'Failed to resolve address: failed to get service default/memory: services "memory" not found',
  );
  await create('Service', 'memory', { spec: { ports: [{ name: 'http', port: 8080 }] } });
  const found = await seen('Memory', 'follows', ({ status }) => status?.phase === 'ready');
  expect(found.status.lastResolvedAddress).toBe('http://memory.default.svc.cluster.local:8080');
});

describe('events', () => {
  const about = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'told', uid: 'a-uid' };
  const component = 'test';

  test('are written beside the work, cut to what the server takes', async () => {
    const recorder = createEventRecorder(connection);
    recorder.record(about, { component, reason: 'Short', message: '{"name":"told"}' });
    recorder.record(about, { component, type: 'Warning', reason: 'Long', message: '🧀'.repeat(5_000) });
    await waitUntil(() => recorder.state().written === 2, { what: 'both events', timeoutMs });
    await recorder.close();

    const { items } = await of('Event').list({
      namespace: 'default',
      fieldSelector: 'involvedObject.name=told',
    });
    const events = items.toSorted((a, b) => ((a.reason ?? '') < (b.reason ?? '') ? -1 : 1));
    expect(events).toMatchObject([
      { type: 'Warning', reason: 'Long', message: expect.stringMatching(/^(🧀)+…$/u) },
      {
        type: 'Normal',
        reason: 'Short',
        message: '{"name":"told"}',
        involvedObject: about,
        source: { component },
      },
    ]);
  });

  test('beyond the rate of one object are dropped, and other objects keep theirs', () => {
    const dropped: string[] = [];
    const recorder = createEventRecorder(connection, {
      burst: 3,
      perSecond: 0,
      onDrop: ({ uid }) => dropped.push(uid),
    });
    const event = { component, reason: 'R', message: 'm' };
    for (let n = 0; n < 5; n++) recorder.record({ ...about, name: 'noisy', uid: 'noisy' }, event);
    recorder.record({ ...about, name: 'quiet', uid: 'quiet' }, event);
    expect(dropped).toEqual(['noisy', 'noisy']);
    return recorder.close();
  });

  test('that nobody takes are counted, bounded, and do not hold up the end', async () => {
    const { connection: wired, wire } = await cluster.overWire();
    wire.block(true);
    const recorder = createEventRecorder(wired, { waitingMax: 10 });
    const event = { component, reason: 'R', message: 'm' };
    for (let n = 0; n < 30; n++) recorder.record({ ...about, uid: `u${n}` }, event);
    expect(recorder.state().waiting).toBeLessThanOrEqual(10);
    await recorder.close();
    expect(recorder.state()).toEqual({ waiting: 0, written: 0, dropped: 30 });
  });
});
