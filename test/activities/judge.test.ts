import { jest } from '@jest/globals';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { EvaluatorPort } from '../../src/activities/ports.ts';
import type { EvaluationCall } from '../../src/api/run.ts';
import type { QueriedDefinition, Value } from '../../src/api/snapshot.ts';
import type { JournaledReply } from '../../src/dev/journaled-server.ts';
import { FakeRuns, fakeRun, inActivity, type Attempt, type FakeRun } from '../fakes/activity.ts';
import { startEvaluatorServer, type EvaluatorServer } from '../fakes/evaluator-server.ts';
import { access, portsWith } from '../fakes/ports.ts';

let reply: JournaledReply;
let server: EvaluatorServer;
beforeAll(async () => {
  server = await startEvaluatorServer(() => reply);
});
beforeEach(() => {
  reply = { body: '{"score":"85","passed":true,"metadata":{"reasoning":"complete"}}' };
});
afterAll(() => server.stop());

const query: QueriedDefinition['query'] = {
  apiVersion: 'ark.mckinsey.com/v1alpha1',
  kind: 'Query',
  metadata: { namespace: 'default', name: 'hello', uid: '6f1c', labels: { a: 'b' }, annotations: {} },
  spec: { input: 'How is {{.city}}?', targets: [{ type: 'agent', name: 'bot' }] },
};
const responses: EvaluationCall['responses'] = [
  { target: { type: 'agent', name: 'bot' }, content: '4 degrees' },
  { target: { type: 'team', name: 'trip' }, content: '' },
];

function ask(
  attempt: Partial<Attempt> = {},
  address: Value = { value: server.url },
  change: (run: FakeRun) => void = () => undefined,
  evaluators: EvaluatorPort = portsWith().evaluators,
) {
  const run = fakeRun('run-1');
  run.definitions['judge'] = { kind: 'evaluator', namespace: 'default', name: 'judge', address, access };
  run.definitions['queried'] = { kind: 'queried', query };
  change(run);
  const { judge } = createActivities({ ...portsWith(), evaluators });
  return inActivity({ run: run.ref, runs: new FakeRuns(run), activityId: 'evaluator.1', ...attempt }, () =>
    judge({ definition: 'judge', queried: 'queried', responses }),
  );
}

test('an evaluator hears the whole Query, its input as it was written, and every answer', async () => {
  expect(await ask()).toEqual({ score: '85', passed: true, metadata: { reasoning: 'complete' } });
  expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toEqual({
    queryId: '6f1c',
    input: 'How is {{.city}}?',
    responses,
    query,
  });
});

test('an input that is the question itself is kept once and shown as it was written', async () => {
  const { input: _, ...spec } = query.spec;
  const asked = { text: 'How is Oslo?' };
  await ask({}, { value: server.url }, (run) => {
    run.definitions['asked'] = { kind: 'question', question: asked, access };
    run.definitions['queried'] = { kind: 'queried', query: { ...query, spec }, input: 'asked' };
  });
  const heard = JSON.parse(server.requests.at(-1)?.body ?? '') as { query: typeof query; input: string };
  expect([heard.input, heard.query.spec]).toEqual([asked.text, { ...spec, input: asked.text }]);
});

test('an evaluator has 30 seconds (contract section 7.1)', async () => {
  const evaluate = jest.fn<EvaluatorPort['evaluate']>(() =>
    Promise.resolve({ score: '1', passed: true, metadata: {} }),
  );
  await ask({}, undefined, undefined, { evaluate });
  expect(evaluate.mock.lastCall?.[2]).toMatchObject({ timeoutMs: 30_000 });
});

test('every attempt bears the same key, a re-run another one', async () => {
  await ask();
  await ask({ attempt: 2 });
  await ask({ activityId: 'evaluator.2' });
  expect(server.requests.slice(-3).map(({ key }) => key)).toEqual([
    'run-1:evaluator.1',
    'run-1:evaluator.1',
    'run-1:evaluator.2',
  ]);
});

test.each<[JournaledReply, string, string]>([
  [{ status: 503 }, 'EvaluatorUnavailable', 'evaluator returned status 503'],
  ['cut', 'EvaluatorUnavailable', 'failed to call evaluator: '],
  [{ status: 404 }, 'EvaluatorRejected', 'evaluator returned status 404'],
  [{ body: 'oops' }, 'EvaluatorRejected', 'failed to decode evaluation response: '],
  [{ body: '{"error":"no model"}' }, 'EvaluatorRejected', 'evaluator returned error: no model'],
])('%j is %s: %s', async (answer, type, message) => {
  reply = answer;
  await expect(ask()).rejects.toMatchObject({
    type,
    nonRetryable: type === 'EvaluatorRejected',
    message: expect.stringContaining(message),
  });
});

test('an address that cannot be read is a failure of its own', async () => {
  const address = { secret: { namespace: 'default', name: 'judge', key: 'url' } };
  await expect(ask({}, address)).rejects.toMatchObject({
    type: 'SecretUnavailable',
    message: 'failed to resolve evaluator address: key url not found in secret default/judge',
  });
});
