/** Evaluations from `kubectl apply` to `done`: a real API server, a real Temporal, an evaluator over HTTP. */
import { NativeConnection, Runtime } from '@temporalio/worker';
import { createActivities } from '../../../src/activities/create-activities.ts';
import { installInto } from '../../../src/adapters/install/install-into.ts';
import type { KubernetesConnection } from '../../../src/adapters/kubernetes/connection.ts';
import { isNotFound } from '../../../src/adapters/kubernetes/kubernetes-error.ts';
import type { KubernetesObject } from '../../../src/adapters/kubernetes/objects.ts';
import { createResources } from '../../../src/adapters/kubernetes/resources.ts';
import { createLogger } from '../../../src/adapters/telemetry/logger.ts';
import { createControllerMetrics, createRegistry } from '../../../src/adapters/telemetry/metrics.ts';
import type { EvaluationStatus } from '../../../src/api/evaluation.ts';
import { evaluationKind, evaluatorKind, group, queryKind } from '../../../src/api/kinds.ts';
import { accessReviews } from '../../../src/controller/access-reviews.ts';
import {
  runEvaluations,
  type EvaluationsController,
} from '../../../src/controller/evaluations/run-evaluations.ts';
import { runKinds, type Kinds } from '../../../src/controller/kinds/run-kinds.ts';
import { kubernetesDefinitions } from '../../../src/controller/kubernetes-definitions.ts';
import { temporalCalls } from '../../../src/controller/temporal-calls.ts';
import { watchResources, type Watches } from '../../../src/controller/watch-resources.ts';
import type { JournaledReply, JournaledRequest } from '../../../src/dev/journaled-server.ts';
import { waitUntil } from '../../../src/dev/wait-until.ts';
import { createWorker } from '../../../src/worker/create-worker.ts';
import { startCluster, type Cluster } from '../../adapters/kubernetes/cluster.ts';
import { startEvaluatorServer, type EvaluatorServer } from '../../fakes/evaluator-server.ts';
import { portsWith } from '../../fakes/ports.ts';
import { startTemporal, type TemporalForTests } from '../../temporal.ts';
import { asController } from '../as-controller.ts';

const timeoutMs = 120_000;
const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

let cluster: Cluster;
let own: KubernetesConnection;
let temporal: TemporalForTests;
let evaluator: EvaluatorServer;
let watches: Watches;
let kinds: Kinds | undefined;
let evaluations: EvaluationsController | undefined;
let stopWorker: (() => Promise<void>) | undefined;
/** By what is judged. */
const replies = new Map<string, JournaledReply | ((request: JournaledRequest) => JournaledReply)>();

type Evaluation = KubernetesObject<object, Partial<EvaluationStatus>>;
const resourcesOf = <T extends KubernetesObject>(
  kind: typeof evaluationKind | typeof evaluatorKind | typeof queryKind,
) => createResources<T>(cluster.connection, { group, ...kind });
const at = (name: string) => ({ namespace: 'default', name });
const apply = (name: string, spec: object) =>
  resourcesOf<Evaluation>(evaluationKind).create({ metadata: at(name), spec });
const direct = (output: string) => ({
  type: 'direct',
  evaluator: { name: 'judge' },
  config: { input: 'Hi', output },
});

/** The Evaluation, as soon as it has ended; undefined where it is gone. */
async function ended(name: string, isWanted: (one: Evaluation) => boolean = () => true): Promise<Evaluation> {
  let found: Evaluation | undefined;
  await waitUntil(
    async () => {
      found = await resourcesOf<Evaluation>(evaluationKind)
        .get(at(name))
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
          return undefined;
        });
      return (
        found !== undefined &&
        ['done', 'error', 'canceled'].includes(found.status?.phase ?? '') &&
        isWanted(found)
      );
    },
    { what: `Evaluation ${name} to end`, timeoutMs },
  );
  return found as Evaluation;
}

beforeAll(async () => {
  [cluster, temporal, evaluator] = await Promise.all([
    startCluster(),
    startTemporal(),
    startEvaluatorServer((call, request) => {
      const { config } = call as { config: { output?: string; queryRef?: { name: string } } };
      const reply = replies.get(config.output ?? config.queryRef?.name ?? '');
      if (typeof reply === 'function') return reply(request);
      return reply ?? { body: '{"score":"0.9","passed":true}' };
    }),
  ]);
  await installInto(cluster.connection, { tenants: [] });
  own = await asController(cluster);

  Runtime.install({ logger: quiet });
  const connection = await NativeConnection.connect({ address: temporal.address });
  const worker = await createWorker(connection, createActivities(portsWith()), {
    namespace: 'default',
    taskQueue: 'evaluations',
  });
  const working = worker.run();
  stopWorker = async () => {
    worker.shutdown();
    await working;
    await connection.close();
  };

  const logger = createLogger({ level: 'silent', name: 'controller' });
  const metrics = createControllerMetrics(createRegistry());
  watches = watchResources(own, (key) => evaluations?.queryChanged(key), {
    logger,
    metrics,
    onDefinition(resource, key) {
      kinds?.look(resource, key);
      if (resource === 'evaluators') evaluations?.evaluatorChanged(key);
    },
  });
  await watches.synced();
  const mayAct = () => true;
  kinds = runKinds(own, watches.definitions, { logger, metrics, mayAct });
  evaluations = runEvaluations({
    connection: own,
    client: temporal.client,
    calls: temporalCalls(temporal.client),
    taskQueue: 'evaluations',
    logger,
    queries: watches.queries,
    definitions: watches.definitions,
    readAs: kubernetesDefinitions(own, watches.definitions, accessReviews(own)),
    mayAct,
  });
});

afterAll(async () => {
  await Promise.all([kinds?.stop(), evaluations?.stop(), stopWorker?.()]);
  await watches?.stop();
  await own?.close();
  await evaluator?.stop();
  await temporal?.stop();
  await cluster?.stop();
});

const judge = (name: string, more: object = {}) =>
  resourcesOf(evaluatorKind).create({
    metadata: at(name),
    spec: { address: { value: evaluator.url }, ...more },
  });

test('an Evaluation that comes before its Evaluator is judged once', async () => {
  replies.set('kept', {
    body: JSON.stringify({
      score: 85,
      passed: true,
      metadata: { 'criteria scores': { accuracy: 9 }, é: 'x' },
    }),
  });
  await apply('first', direct('kept'));
  await judge('judge');
  const { status, metadata } = await ended('first');
  expect(status).toMatchObject({
    phase: 'done',
    message: 'Direct evaluation completed successfully',
    score: '0.85',
    passed: true,
  });
  expect(metadata.annotations).toMatchObject({
    'evaluation.metadata/criteria-scores': '{"accuracy":9}',
    'evaluation.metadata/raw-score': '85',
    'evaluation.metadata/unnamed': 'x',
  });
  expect(evaluator.requests).toHaveLength(1);
});

test('a refusal is told in status', async () => {
  replies.set('refused', { status: 422 });
  await apply('refused', direct('refused'));
  expect((await ended('refused')).status).toMatchObject({
    phase: 'error',
    message: 'Evaluator call failed: evaluator returned status 422',
    passed: false,
  });
});

test('a batch is judged by children of its own', async () => {
  replies.set('bad', { body: '{"score":"0.2","passed":false}' });
  await apply('good', direct('good'));
  await apply('bad', direct('bad'));
  await apply('batch', {
    type: 'batch',
    evaluator: { name: 'judge' },
    config: { evaluations: [{ name: 'good' }, { name: 'bad' }] },
  });
  const { status } = await ended('batch');
  expect(status).toMatchObject({
    phase: 'done',
    score: '0.550',
    passed: false,
    message: 'Batch evaluation completed: 1/2 children passed',
    batchProgress: { total: 2, completed: 2 },
  });
  const { metadata } = await ended('batch-child-1');
  expect(metadata.ownerReferences).toMatchObject([{ kind: 'Evaluation', name: 'batch', controller: true }]);
});

test('a selected Query is judged when it is done, and again when it has changed', async () => {
  await judge('selecting', { selector: { resourceType: 'Query', matchLabels: { judged: 'yes' } } });
  const queries = resourcesOf(queryKind);
  const spec = { input: 'Hi', targets: [{ type: 'agent', name: 'bot' }] };
  await queries.create({ metadata: { ...at('q1'), labels: { judged: 'yes' } }, spec });
  await queries.mergePatchStatus(at('q1'), { phase: 'done' });

  const first = await ended('selecting-q1-eval');
  expect(first.status).toMatchObject({ phase: 'done', message: 'Query evaluation completed successfully' });

  await queries.mergePatch(at('q1'), { spec: { ttl: '9h' } });
  const second = await ended('selecting-q1-eval', ({ metadata }) => metadata.uid !== first.metadata.uid);
  expect(second.metadata.annotations).toMatchObject({ 'ark.mckinsey.com/query-generation': '2' });
  expect(second.status).toMatchObject({ phase: 'done' });
});

test('deleting one that is being judged ends the call', async () => {
  const { promise: hungUp, resolve } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  replies.set('endless', ({ signal }) => {
    signal.addEventListener('abort', () => resolve());
    ask();
    return 'hang';
  });
  await apply('endless', direct('endless'));
  await asked;
  await resourcesOf(evaluationKind).remove(at('endless'));
  await hungUp;
});

test('one that has ended goes when its ttl is over', async () => {
  await apply('brief', { ...direct('brief'), ttl: '1s' });
  await waitUntil(
    () =>
      resourcesOf(evaluationKind)
        .get(at('brief'))
        .then(() => false, isNotFound),
    { what: 'Evaluation brief to be deleted', timeoutMs },
  );
});
