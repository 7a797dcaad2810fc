import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { Ports } from '../../src/activities/ports.ts';
import { connectKubernetes } from '../../src/adapters/kubernetes/connection.ts';
import type { KubernetesConnection } from '../../src/adapters/kubernetes/connection.ts';
import { isNotFound } from '../../src/adapters/kubernetes/kubernetes-error.ts';
import { createResources } from '../../src/adapters/kubernetes/resources.ts';
import type { Resources } from '../../src/adapters/kubernetes/resources.ts';
import { createLogger } from '../../src/adapters/telemetry/logger.ts';
import { createControllerMetrics, createRegistry } from '../../src/adapters/telemetry/metrics.ts';
import { agentKind, group, modelKind, queryKind } from '../../src/api/kinds.ts';
import type { QueryStatus } from '../../src/api/query.ts';
import type { QueryObject } from '../../src/controller/kubernetes-queries.ts';
import { runController } from '../../src/controller/main.ts';
import { registeredSearchAttributes } from '../../src/controller/search-attributes.ts';
import { temporalCalls } from '../../src/controller/temporal-calls.ts';
import { temporalRuns } from '../../src/controller/temporal-runs.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import { waitFor, withStack } from '../e2e/stack.ts';

const cluster = withStack({ without: ['controller', 'worker'] });
const settings = {
  taskQueue: 'arkwright',
  limits: { toolRounds: 10, turns: 30, concurrency: 8 },
} as const;

/** The name of the agent says how its model behaves; `hangs` holds calls until `answerAll`. */
let answerAll = (): void => {};
let released = new Promise<void>((resolve) => (answerAll = resolve));
const models: Ports['models'] = {
  async complete({ endpoint }, { signal }) {
    if (endpoint.model === 'hangs') await Promise.race([released, rejectedBy(signal)]);
    if (endpoint.model === 'refuses')
      throw Object.assign(new Error('wrong key'), { type: 'ModelUnauthorized' });
    const usage = { promptTokens: 3, completionTokens: 1, totalTokens: 4 };
    return { message: { role: 'assistant', content: `${endpoint.model} answered` }, usage };
  },
};
const rejectedBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

const quiet = (): void => undefined;
const silent = createLogger({ level: 'silent', name: 'controller' });

let temporal: Client;
let connection: KubernetesConnection;
let queries: Resources<QueryObject>;
let stopWorker: () => Promise<void>;
let stopController: () => Promise<void>;

function startController(): () => Promise<void> {
  const { kubeconfig, temporalAddress: address, temporalNamespace: namespace, temporalUi } = cluster.stack;
  const ends = new AbortController();
  const running = runController(
    {
      ...settings,
      events: 'all',
      kubeconfig,
      namespace: 'arkwright-system',
      // A busy machine may lose a lease; leader-election.test.ts is about that.
      leaderElection: false,
      temporal: { connectionOptions: { address }, namespace },
      temporalUi,
      logger: silent,
      health: { setLive: () => undefined, setReady: () => undefined },
      metrics: createControllerMetrics(createRegistry()),
    },
    ends.signal,
  );
  return async () => {
    ends.abort();
    await running;
  };
}

beforeAll(async () => {
  const { temporalAddress: address, temporalNamespace: namespace } = cluster.stack;
  Runtime.install({
    logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  const native = await NativeConnection.connect({ address });
  const ports = { models, templates: { render: ({ template }: { template: string }) => template } };
  const worker = await createWorker(native, createActivities(ports as unknown as Ports), {
    namespace,
    taskQueue: settings.taskQueue,
  });
  const working = worker.run();
  const toTemporal = await Connection.connect({ address });
  temporal = new Client({ connection: toTemporal, namespace });
  stopWorker = async () => {
    worker.shutdown();
    await working;
    await toTemporal.close();
    await native.close();
  };
  stopController = startController();

  connection = connectKubernetes({ kubeconfig: cluster.stack.kubeconfig });
  queries = createResources(connection, { group, ...queryKind });
  for (const behaviour of ['answers', 'hangs', 'refuses']) {
    await createModel(behaviour);
    await createAgent(behaviour, behaviour);
  }
});

afterAll(async () => {
  answerAll();
  await stopController?.();
  await stopWorker?.();
  await connection?.close();
});

beforeEach(() => {
  released = new Promise<void>((resolve) => (answerAll = resolve));
});

const namespace = 'default';
const createModel = (name: string): Promise<unknown> =>
  createResources(connection, { group, ...modelKind }).create({
    metadata: { namespace, name },
    spec: {
      type: 'openai',
      model: { value: name },
      config: { openai: { baseUrl: { value: 'http://nowhere/v1' }, apiKey: { value: 'k' } } },
    },
  });
const createAgent = (name: string, model: string): Promise<unknown> =>
  createResources(connection, { group, ...agentKind }).create({
    metadata: { namespace, name },
    spec: { modelRef: { name: model } },
  });
const ask = (name: string, agent: string, spec: object = {}): Promise<QueryObject> =>
  queries.create({
    metadata: { namespace, name },
    spec: { input: 'hi', targets: [{ type: 'agent', name: agent }], ...spec },
  });
const edit = (name: string, patch: object): Promise<QueryObject> =>
  queries.mergePatch({ namespace, name }, patch);

const statusOf = async (name: string): Promise<Partial<QueryStatus>> =>
  (await queries.get({ namespace, name })).status ?? {};

const isGone = (name: string): Promise<boolean> =>
  queries.get({ namespace, name }).then(
    () => false,
    (error: unknown) => {
      if (!isNotFound(error)) throw error;
      return true;
    },
  );
const whenGone = (name: string): Promise<boolean> => waitFor(() => isGone(name), { what: `${name} to go` });

const whenPhase = (name: string, ...phases: string[]): Promise<Partial<QueryStatus>> =>
  waitFor(
    async () => {
      const status = await statusOf(name);
      return phases.includes(status.phase ?? '') ? status : undefined;
    },
    { what: `${name} to be ${phases.join(' or ')}` },
  );

async function runOf(name: string) {
  const { temporal: link } = await whenPhase(name, 'running');
  return temporal.workflow.getHandle(link?.workflowId ?? '');
}

test('a Query is answered, and its status says all there is to know', async () => {
  await ask('plain', 'answers');

  const status = await whenPhase('plain', 'done', 'error');
  expect(status).toMatchObject({
    phase: 'done',
    message: 'answers answered',
    responses: [{ target: { type: 'agent', name: 'answers' }, content: 'answers answered', phase: 'done' }],
    tokenUsage: { promptTokens: 3, completionTokens: 1, totalTokens: 4, modelCalls: 1, toolCalls: 0 },
    conditions: [{ type: 'Completed', status: 'True', reason: 'QuerySucceeded', observedGeneration: 1 }],
    duration: expect.stringMatching(/^[0-9.]+m?s$/),
    snapshotHash: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  expect(status).not.toHaveProperty('progress');

  const run = await temporal.workflow.getHandle(status.temporal?.workflowId ?? '').describe();
  expect(status.temporal?.runId).toBe(run.runId);
  expect(status.temporal?.url).toContain(encodeURIComponent(run.workflowId));
  expect(await run.staticSummary()).toBe('agent/answers · hi');
  expect(run.searchAttributes).toMatchObject({ ArkNamespace: ['default'], ArkTarget: ['agent/answers'] });
});

test('what Temporal has closed is listed, to the execution', async () => {
  await ask('listed', 'answers');
  const { temporal: link, startTime = '' } = await whenPhase('listed', 'done', 'error');
  const { closedSince } = temporalRuns(temporal, {
    ...settings,
    calls: temporalCalls(temporal),
    searchAttributes: registeredSearchAttributes(temporal, temporalCalls(temporal), silent),
  });

  const found = await waitFor(
    async () =>
      (await closedSince(new Date(startTime))).find(({ workflowId }) => workflowId === link?.workflowId),
    { what: 'the run in the list' },
  );
  expect(found.runId).toBe(link?.runId);

  const later = new Date(found.closedAt.getTime() + 1);
  expect((await closedSince(later)).map(({ workflowId }) => workflowId)).not.toContain(link?.workflowId);
});

test('a model that refuses is an error with its name', async () => {
  await ask('refused', 'refuses');

  expect(await whenPhase('refused', 'error')).toMatchObject({
    error: expect.stringContaining('wrong key'),
    conditions: [{ reason: 'QueryErrored', message: expect.stringMatching(/^ModelUnauthorized: /) }],
  });
});

test('cancel ends the run, for good', async () => {
  await ask('canceled', 'hangs');
  await runOf('canceled');

  await edit('canceled', { spec: { cancel: true } });

  expect(await whenPhase('canceled', 'canceled', 'done')).toMatchObject({
    phase: 'canceled',
    conditions: [{ reason: 'QueryCanceled' }],
  });
  await edit('canceled', { spec: { cancel: false } });
  await pause(500);
  expect(await statusOf('canceled')).toMatchObject({ phase: 'canceled' });
});

test('deletion ends the run before the object goes', async () => {
  await ask('deleted', 'hangs');
  const run = await runOf('deleted');

  await queries.remove({ namespace, name: 'deleted' });
  await whenGone('deleted');

  expect((await run.describe()).status.name).toBe('CANCELLED');
});

test('an object removed by force takes its run with it', async () => {
  await ask('forced', 'hangs');
  const run = await runOf('forced');

  await edit('forced', { metadata: { finalizers: null } });
  await queries.remove({ namespace, name: 'forced' });

  await expect(run.result()).rejects.toThrow('Workflow execution cancelled');
  expect((await run.describe()).status.name).toBe('CANCELLED');
});

test('edits during the run do not lose its result', async () => {
  await ask('edited', 'hangs');
  await runOf('edited');

  for (let count = 0; count < 5; count++)
    await edit('edited', { metadata: { labels: { edit: String(count) } } });
  answerAll();

  expect(await whenPhase('edited', 'done')).toMatchObject({ message: 'hangs answered' });
});

test('a run that ends while no controller is there is mirrored by the next one', async () => {
  await ask('away', 'hangs');
  const run = await runOf('away');

  await stopController();
  answerAll();
  await run.result();
  expect(await statusOf('away')).toMatchObject({ phase: 'running' });
  stopController = startController();

  expect(await whenPhase('away', 'done')).toMatchObject({ message: 'hangs answered' });
});

test('a Query created before the agent it asks is answered', async () => {
  await ask('hasty', 'late');
  const isSeen = async () =>
    (await queries.get({ namespace, name: 'hasty' })).metadata.finalizers !== undefined;
  await waitFor(isSeen, { what: 'the controller to see hasty' });
  await createAgent('late', 'answers');

  expect(await whenPhase('hasty', 'done', 'error')).toMatchObject({ phase: 'done' });
});

test('a Query of an agent that never comes says so, and starts nothing', async () => {
  await ask('nobody', 'nobody');

  const status = await whenPhase('nobody', 'done', 'error');
  expect(status).toMatchObject({
    phase: 'error',
    error: 'unable to get default/nobody, error:agents.ark.mckinsey.com "nobody" not found',
    conditions: [{ message: expect.stringMatching(/^DefinitionNotFound: /) }],
  });
  expect(status).not.toHaveProperty('temporal');
});

test('a run ended from outside is an error, a reset one goes on', async () => {
  await Promise.all([ask('terminated', 'hangs'), ask('reset', 'hangs')]);
  const [terminated, reset] = await Promise.all([runOf('terminated'), runOf('reset')]);

  await terminated.terminate('by hand');
  expect(await whenPhase('terminated', 'error', 'done')).toMatchObject({
    phase: 'error',
    error: 'the run was terminated: by hand',
  });

  const firstTask = async () =>
    (await reset.fetchHistory()).events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
  await waitFor(async () => (await firstTask()) !== undefined, {
    what: 'the first task',
    timeoutMs: 120_000,
  });
  const { runId } = await temporal.workflowService.resetWorkflowExecution({
    namespace: temporal.options.namespace,
    reason: 'again',
    requestId: 'again',
    workflowExecution: { workflowId: reset.workflowId, runId: (await reset.describe()).runId },
    workflowTaskFinishEventId: await firstTask(),
  });
  answerAll();

  expect(await whenPhase('reset', 'error', 'done')).toMatchObject({ phase: 'done', temporal: { runId } });
});

test('Queries created while Temporal is away are answered when it is back', async () => {
  await cluster.stack.hold('temporal');
  await ask('patient', 'answers');
  await pause(2_000);
  expect((await statusOf('patient')).phase ?? 'pending').toBe('pending');
  await cluster.stack.restart('temporal');

  expect(await whenPhase('patient', 'done')).toMatchObject({ message: 'answers answered' });
});

test('ttl takes a finished Query away', async () => {
  await ask('brief', 'answers', { ttl: '1s' });

  expect(await whenGone('brief')).toBe(true);
});
