import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { EvaluationRunInput } from '../../src/api/evaluation-run.ts';
import { temporalCalls } from '../../src/controller/temporal-calls.ts';
import { temporalEvaluations } from '../../src/controller/evaluations/temporal-evaluations.ts';
import type { JournaledReply } from '../../src/dev/journaled-server.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import { startEvaluatorServer, type EvaluatorServer } from '../fakes/evaluator-server.ts';
import { access, portsWith } from '../fakes/ports.ts';
import { startTemporal, type TemporalForTests } from '../temporal.ts';

const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const pass = { body: '{"score":"0.9","passed":true,"metadata":{"reasoning":"complete"}}' };

let temporal: TemporalForTests;
let evaluator: EvaluatorServer;
let replies: JournaledReply[];
let asked: () => void;
let stopWorker: () => Promise<void>;

beforeAll(async () => {
  temporal = await startTemporal();
  evaluator = await startEvaluatorServer(() => {
    asked();
    return replies.shift() ?? pass;
  });
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
});
beforeEach(() => {
  replies = [];
  asked = () => undefined;
});
afterAll(async () => {
  await stopWorker();
  await evaluator.stop();
  await temporal.stop();
});

const input = (more: Partial<EvaluationRunInput> = {}): EvaluationRunInput => ({
  evaluator: 'judge',
  timeoutMs: 240_000,
  call: {
    address: { value: evaluator.url },
    access,
    request: { type: 'direct', config: {}, parameters: {}, evaluatorName: 'judge' },
    timeoutMs: 60_000,
  },
  ...more,
});

const runs = () => {
  const calls = temporalCalls(temporal.client);
  return temporalEvaluations(temporal.client, { taskQueue: 'evaluations', calls });
};
const owner = (name: string) => ({ namespace: 'default', name, uid: `uid-${name}` });
const handleOf = (name: string): WorkflowHandle =>
  temporal.client.workflow.getHandle(`evaluation:default:${name}:uid-${name}`);

test('a judgement is the result, and asked for once however often the run is started', async () => {
  const before = evaluator.requests.length;
  const { start, look } = runs();
  expect(await look(owner('once'))).toEqual({ state: 'absent' });
  await Promise.all([start(owner('once'), input()), start(owner('once'), input())]);
  await handleOf('once').result();

  const end = { score: '0.9', passed: true, metadata: { reasoning: 'complete' } };
  expect(await look(owner('once'))).toMatchObject({ state: 'closed', end });
  expect(await start(owner('once'), input())).toMatchObject({ state: 'closed', end });
  expect(evaluator.requests).toHaveLength(before + 1);
});

test('an evaluator that is busy is asked again, under the same key', async () => {
  const before = evaluator.requests.length;
  replies = [{ status: 503 }, 'cut'];
  const { start, look } = runs();
  await start(owner('busy'), input());
  await handleOf('busy').result();
  expect(await look(owner('busy'))).toMatchObject({ end: { score: '0.9' } });
  const keys = evaluator.requests.slice(before).map(({ key }) => key);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});

test('an evaluator that refuses is not asked again', async () => {
  replies = [{ status: 422 }];
  const { start, look } = runs();
  await start(owner('refused'), input());
  await handleOf('refused')
    .result()
    .catch(() => undefined);
  expect(await look(owner('refused'))).toMatchObject({
    state: 'closed',
    end: { type: 'EvaluatorRejected', message: 'evaluator returned status 422' },
  });
});

test('one that never answers ends with the Evaluation’s own time', async () => {
  replies = ['hang'];
  const { start } = runs();
  await start(owner('slow'), input({ timeoutMs: 1_500 }));
  const failure: unknown = await handleOf('slow')
    .result()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(WorkflowFailedError);
  expect((failure as WorkflowFailedError).cause as ApplicationFailure).toMatchObject({
    type: 'EvaluatorUnavailable',
    // Whoever is first to notice: the worker after a second, or the server when all of the time is over.
    message: expect.stringMatching(/: no answer within 1 s$|gave no judgement within 1\.5s /),
  });
});

test('a cancel reaches a hanging call, and an unknown run is nothing to cancel', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  asked = resolve;
  replies = ['hang'];
  const { start, look, cancel } = runs();
  await start(owner('canceled'), input());
  await promise;
  expect(await look(owner('canceled'))).toMatchObject({ state: 'open' });
  await cancel(owner('canceled'));
  await cancel(owner('canceled'));
  await handleOf('canceled')
    .result()
    .catch(() => undefined);
  expect(await look(owner('canceled'))).toMatchObject({ state: 'closed', end: { type: 'RunCanceled' } });
  await cancel(owner('nobody'));
});
