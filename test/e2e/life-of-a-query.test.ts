import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';
import type { ScriptedAnswer } from '../../src/dev/scripted-model.ts';
import { writeHistory } from '../../src/worker/replay.ts';
import { ended, statusOf, withSampleServices } from './sample-services.ts';
import { waitFor, withStack } from './stack.ts';

const canary = 'canary-7f3a-never-seen';

/** The model behaves as the question asks. */
const model = { answers: new Map<string, number>(), gate: Promise.withResolvers<void>(), isMoody: true };
const cluster = withStack();
const services = withSampleServices(cluster, {
  script: async ({ body }): Promise<ScriptedAnswer> => {
    const question = body.messages.findLast(({ role }) => role === 'user')?.content ?? '';
    const [order = '', name = ''] = question.split(' ');
    const times = (model.answers.get(question) ?? 0) + 1;
    model.answers.set(question, times);
    switch (order) {
      case 'wait':
        await model.gate.promise;
        return { content: `${name} was worth waiting for` };
      case 'hang':
        return 'hang';
      case 'busy':
        return times === 1
          ? { status: 429, headers: { 'retry-after': '2' }, body: refusal('slow down') }
          : { content: 'at last' };
      case 'flaky':
        return times === 1
          ? { status: 503, body: refusal('overloaded') }
          : times === 2
            ? 'cut'
            : { content: 'there' };
      case 'refuse':
        return { status: Number(name), body: refusal(`refused with ${name}`) };
      case 'mood':
        if (body.messages[0]?.content) return { content: 'how are you?' };
        return model.isMoody ? { status: 400, body: refusal('not today') } : { content: 'in a good mood' };
      default:
        return { content: `you said: ${question.replaceAll(canary, '<the secret>')}` };
    }
  },
});

const refusal = (message: string) => ({
  error: { message, type: 'invalid_request_error', code: null, param: null },
});
const agent = {
  apiVersion: 'ark.mckinsey.com/v1alpha1',
  kind: 'Agent',
  metadata: { name: 'ann' },
  spec: { prompt: 'You are ann.' },
};
const query = (name: string, input: string, spec: object = {}) => ({
  apiVersion: 'ark.mckinsey.com/v1alpha1',
  kind: 'Query',
  metadata: { name },
  spec: { input, targets: [{ type: 'agent', name: 'ann' }], ...spec },
});
const apply = (...objects: object[]) =>
  cluster.kubectl(['apply', '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n'));
const patch = (name: string, change: object) =>
  cluster.kubectl(['patch', 'query', name, '--type', 'merge', '-p', JSON.stringify(change)]);
const running = (name: string) =>
  waitFor(async () => (await statusOf(cluster, name)).phase === 'running', {
    what: `${name} to run`,
    timeoutMs: 120_000,
  });
const asked = (question: string) =>
  waitFor(() => model.answers.has(question), {
    what: `the model to be asked "${question}"`,
    timeoutMs: 120_000,
  });

beforeAll(() => apply(agent));

/** The command as a person types it. */
function arkwright(...words: readonly string[]) {
  const env = {
    ...process.env,
    KUBECONFIG: cluster.stack.kubeconfig,
    TEMPORAL_ADDRESS: cluster.stack.temporalAddress,
  };
  const { stdout, status } = spawnSync(process.execPath, ['src/cli/main.ts', ...words], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout };
}

async function withTemporal<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: cluster.stack.temporalAddress });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

test('labels edited while it runs do not lose the result', async () => {
  await apply(query('edited', 'wait edited'));
  await running('edited');
  for (const label of ['one', 'two', 'three'])
    await cluster.kubectl(['label', '--overwrite', 'query/edited', `edit=${label}`]);
  model.gate.resolve();
  expect(await ended(cluster, 'edited')).toMatchObject({
    phase: 'done',
    responses: [{ content: 'edited was worth waiting for' }],
  });
});

test('429 with Retry-After is obeyed and 5xx and cut connections are retried', async () => {
  await apply(query('busy', 'busy bee'), query('flaky', 'flaky pastry'));
  const status = await ended(cluster, 'busy');
  expect(status).toMatchObject({ phase: 'done', responses: [{ content: 'at last' }] });
  expect(Date.parse(status.completionTime ?? '') - Date.parse(status.startTime ?? '')).toBeGreaterThanOrEqual(
    2_000,
  );
  expect(await ended(cluster, 'flaky')).toMatchObject({ phase: 'done', responses: [{ content: 'there' }] });
  expect(model.answers.get('flaky pastry')).toBe(3);
});

test.each([
  ['400', 'ModelBadRequest'],
  ['401', 'ModelUnauthorized'],
  ['404', 'ModelNotFound'],
])('%s fails at once, with the provider’s reason in status', async (code, type) => {
  await apply(query(`refused-${code}`, `refuse ${code}`));
  const status = await ended(cluster, `refused-${code}`);
  expect(status).toMatchObject({ phase: 'error', error: expect.stringContaining(`refused with ${code}`) });
  expect(status.conditions?.[0]).toMatchObject({
    reason: 'QueryErrored',
    message: expect.stringMatching(`^${type}: `),
  });
  expect(model.answers.get(`refuse ${code}`)).toBe(1);
});

test('cancel ends it canceled, for good, however often it is asked for', async () => {
  await apply(query('unwanted', 'hang unwanted'));
  await asked('hang unwanted');
  await patch('unwanted', { spec: { cancel: true } });
  expect(await ended(cluster, 'unwanted')).toMatchObject({
    phase: 'canceled',
    conditions: [{ reason: 'QueryCanceled' }],
  });

  await patch('unwanted', { spec: { cancel: false } });
  await patch('unwanted', { spec: { cancel: true } });
  await apply(query('after-unwanted', 'hello'));
  await ended(cluster, 'after-unwanted');
  expect((await statusOf(cluster, 'unwanted')).phase).toBe('canceled');
});

test('cancelled before it began, nothing is started', async () => {
  await apply(query('never', 'hello never', { cancel: true }));
  expect(await ended(cluster, 'never')).toMatchObject({ phase: 'canceled' });
  expect(model.answers.has('hello never')).toBe(false);
});

test('deleting it cancels its run and lets it go, also with the controller down in between', async () => {
  await apply(query('deleted', 'hang deleted'));
  await running('deleted');
  await asked('hang deleted');
  const { temporal } = await statusOf(cluster, 'deleted');

  await cluster.stack.hold('controller');
  await cluster.kubectl(['delete', 'query', 'deleted', '--wait=false']);
  await cluster.stack.restart('controller');

  await waitFor(
    async () => !(await cluster.kubectl(['get', 'queries', '-o', 'name'])).includes('/deleted\n'),
    {
      what: 'the Query to be gone',
      timeoutMs: 120_000,
    },
  );
  const { status } = await withTemporal((client) =>
    client.workflow.getHandle(temporal?.workflowId ?? '').describe(),
  );
  expect(['CANCELLED', 'TERMINATED']).toContain(status.name);
});

test('a Query that ended while the controller was away is mirrored when it is back', async () => {
  await apply(query('away', 'busy away'));
  await asked('busy away');
  await cluster.stack.hold('controller');
  await waitFor(() => model.answers.get('busy away') === 2, { what: 'the second call', timeoutMs: 120_000 });
  await cluster.stack.restart('controller');
  expect(await ended(cluster, 'away')).toMatchObject({ phase: 'done', responses: [{ content: 'at last' }] });
});

test('a bad template is told in status, and nothing is started', async () => {
  await apply(query('bad-template', '{{name}}', { parameters: [{ name: 'other', value: 'x' }] }));
  const status = await ended(cluster, 'bad-template');
  expect(status).toMatchObject({
    phase: 'error',
    error: expect.stringMatching(/function "name" not defined/),
  });
  expect(status.temporal).toBeUndefined();
});

test('a Query of an agent that is not there is refused; where nobody could be asked, its status says so', async () => {
  const lost = query('lost', 'unused', { targets: [{ type: 'agent', name: 'nobody' }] });
  // A controller was started a moment ago, and the API server asks it a moment after it has been told to.
  const isRefused = () =>
    cluster.kubectl(['create', '--dry-run=server', '-f', '-'], JSON.stringify(lost)).then(
      () => false,
      () => true,
    );
  await waitFor(isRefused, { what: 'the API server to ask' });
  await expect(apply(lost)).rejects.toThrow(
    'admission webhook "vquery-v1.kb.io" denied the request: target[0] references agent \'nobody\' does not exist in namespace \'default\': agents.ark.mckinsey.com "nobody" not found',
  );
  await cluster.stack.hold('controller');
  const isTaken = () =>
    apply(lost).then(
      () => true,
      () => false,
    );
  await waitFor(isTaken, { what: 'the API server to ask no more' });
  await cluster.stack.restart('controller');

  const status = await ended(cluster, 'lost');
  expect(status).toMatchObject({ phase: 'error', error: expect.stringMatching(/nobody/) });
  expect(status.temporal).toBeUndefined();
});

test('a killed controller answers the API server again at the same address, with the same certificate', async () => {
  const registered = async () =>
    JSON.parse(await cluster.kubectl(['get', 'validatingwebhookconfigurations', '-o', 'json'])) as object;
  const before = await registered();
  await cluster.stack.kill('controller', 'SIGKILL');
  await cluster.stack.ready('controller');
  expect(await registered()).toEqual(before);
});

test('a Query without targets is refused by the API server, in ARK’s words', async () => {
  await expect(apply(query('aimless', 'hello', { targets: [] }))).rejects.toThrow(
    'at least one target or selector must be specified',
  );
});

test('a deadline keeps its word', async () => {
  await apply(query('late', 'hang late', { timeout: '2s' }));
  expect(await ended(cluster, 'late')).toMatchObject({
    phase: 'error',
    error: expect.stringContaining('context deadline exceeded'),
  });
});

test('after its ttl a finished Query is deleted', async () => {
  await apply(query('short-lived', 'hello short', { ttl: '3s' }));
  await waitFor(
    async () => !(await cluster.kubectl(['get', 'queries', '-o', 'name'])).includes('short-lived'),
    {
      what: 'the Query to expire',
      timeoutMs: 120_000,
    },
  );
  expect(model.answers.has('hello short')).toBe(true);
});

test('a Secret’s value reaches the model and nothing else: no history, status, Event or log', async () => {
  await apply(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'canary' }, stringData: { value: canary } },
    query('secretive', 'the number is {{.number}}', {
      parameters: [{ name: 'number', valueFrom: { secretKeyRef: { name: 'canary', key: 'value' } } }],
    }),
    query('secretive-refused', 'refuse 400 {{.number}}', {
      parameters: [{ name: 'number', valueFrom: { secretKeyRef: { name: 'canary', key: 'value' } } }],
    }),
  );
  const status = await ended(cluster, 'secretive');
  expect(status.responses?.[0]?.content).toBe('you said: the number is <the secret>');
  await ended(cluster, 'secretive-refused');
  expect(services.model.requests.some(({ body }) => body.includes(canary))).toBe(true);

  const places: Record<string, string> = {
    status: await cluster.kubectl(['get', 'queries', '-o', 'json']),
    events: await cluster.kubectl(['get', 'events', '-A', '-o', 'json']),
  };
  for (const name of cluster.stack.processes)
    places[`${name} log`] = await readFile(cluster.stack.logPath(name), 'utf8');
  await withTemporal(async (client) => {
    for await (const { workflowId } of client.workflow.list()) {
      places[workflowId] = writeHistory(await client.workflow.getHandle(workflowId).fetchHistory());
    }
  });
  // Payloads are base64 in a history: look for each of its three alignments too.
  const spellings = [
    canary,
    ...[0, 1, 2].map((shift) =>
      Buffer.from(' '.repeat(shift) + canary)
        .toString('base64')
        .slice(shift + 2, -4),
    ),
  ];
  const leaks = Object.entries(places).filter(([, text]) =>
    spellings.some((spelling) => text.includes(spelling)),
  );
  expect(leaks.map(([place]) => place)).toEqual([]);
});

test('`arkwright replay` says that this code decides what the run decided', async () => {
  await apply(query('replayed', 'hello replay'));
  await ended(cluster, 'replayed');
  expect(arkwright('replay', 'replayed')).toEqual({
    status: 0,
    stdout: expect.stringMatching(/t001\.ann\.model\.1.*you said: hello replay.*decides the same/s),
  });
});

interface Told {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly name: string };
}

/** The Events of a Query once these are among them; worker and controller write at a pace of their own. */
async function toldOf(name: string, ...awaited: readonly string[]): Promise<readonly Told[]> {
  let told: readonly Told[] = [];
  const selector = `involvedObject.kind=Query,involvedObject.name=${name}`;
  await waitFor(
    async () => {
      const list = await cluster.kubectl(['get', 'events', '-o', 'json', '--field-selector', selector]);
      told = (JSON.parse(list) as { items: readonly Told[] }).items;
      return awaited.every((each) => told.some(({ reason }) => reason === each));
    },
    { what: `Events ${awaited.join(' and ')} of ${name}`, timeoutMs: 120_000 },
  );
  return told;
}

test('Events tell what a Query did, in the words that ARK’s command line reads', async () => {
  await apply(query('told', 'hello'), query('told-refused', 'refuse 400'));
  await ended(cluster, 'told');

  const reasons = [
    'AgentExecutionComplete',
    'AgentExecutionStart',
    'LLMCallComplete',
    'LLMCallStart',
    'QueryResolveComplete',
    'QueryResolveStart',
    'TargetExecutionComplete',
  ];
  const told = await toldOf('told', ...reasons);
  expect(told.map(({ reason }) => reason).toSorted()).toEqual(reasons);
  const answered = told.find(({ reason }) => reason === 'LLMCallComplete');
  expect(JSON.parse(answered?.message ?? '')).toMatchObject({
    agent: 'default/ann',
    name: expect.any(String),
    duration: expect.stringMatching(/^[0-9.]+m?s$/),
    token_usage: { total_tokens: expect.any(Number) },
  });

  const [error] = (await toldOf('told-refused', 'QueryResolveError')).filter(
    ({ reason }) => reason === 'QueryResolveError',
  );
  expect(error).toMatchObject({ type: 'Warning' });
  expect(JSON.parse(error?.message ?? '')).toMatchObject({
    name: 'told-refused',
    error: expect.stringContaining('refused with 400'),
  });
});

const team = (name: string, ...members: object[]) => ({
  apiVersion: 'ark.mckinsey.com/v1alpha1',
  kind: 'Team',
  metadata: { name },
  spec: { strategy: 'sequential', members },
});

test('the run of a nested team is found by its Query', async () => {
  const ann = { type: 'agent', name: 'ann' };
  await apply(team('inner', ann, ann), team('outer', { type: 'team', name: 'inner' }, ann));
  await apply(query('nested', 'hello nested', { targets: [{ type: 'team', name: 'outer' }] }));
  await ended(cluster, 'nested');

  await withTemporal(async (client) => {
    const runs = async () => {
      const found: string[] = [];
      for await (const { type } of client.workflow.list({ query: 'ArkQuery = "nested"' })) found.push(type);
      return found.toSorted();
    };
    await waitFor(async () => (await runs()).length === 2, { what: 'both runs', timeoutMs: 120_000 });
    expect(await runs()).toEqual(['queryWorkflow', 'teamWorkflow']);
  });
});

test('`arkwright rerun` lets a failed team go on at the turn that failed', async () => {
  const ann = { type: 'agent', name: 'ann' };
  const moody = { apiVersion: agent.apiVersion, kind: 'Agent', metadata: { name: 'moody' }, spec: {} };
  await apply(moody);
  await apply(team('pair', ann, { type: 'agent', name: 'moody' }));
  await apply(query('resumed', 'mood of the day', { targets: [{ type: 'team', name: 'pair' }] }));
  await ended(cluster, 'resumed');
  expect(await statusOf(cluster, 'resumed')).toMatchObject({ phase: 'error' });
  const askedBefore = services.model.total().started;

  model.isMoody = false;
  expect(arkwright('rerun', 'resumed')).toEqual({
    status: 0,
    stdout: expect.stringContaining('default/resumed goes on from t002.moody.model.1'),
  });
  await waitFor(async () => (await statusOf(cluster, 'resumed')).phase === 'done', {
    what: 'the second end',
    timeoutMs: 120_000,
  });
  expect((await statusOf(cluster, 'resumed')).responses?.[0]?.content).toBe('in a good mood');
  // The first turn was not paid for again.
  expect(services.model.total().started).toBe(askedBefore + 1);
});
