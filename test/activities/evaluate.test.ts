import { createActivities } from '../../src/activities/create-activities.ts';
import type { EvaluatorCall } from '../../src/api/evaluation-run.ts';
import type { JournaledReply } from '../../src/dev/journaled-server.ts';
import { FakeRuns, fakeRun, inActivity, type Attempt } from '../fakes/activity.ts';
import { startEvaluatorServer, type EvaluatorServer } from '../fakes/evaluator-server.ts';
import { access, portsWith } from '../fakes/ports.ts';

let reply: JournaledReply;
let server: EvaluatorServer;
beforeAll(async () => {
  server = await startEvaluatorServer(() => reply);
});
beforeEach(() => {
  reply = { body: '{"score":"0.9","passed":true}' };
});
afterAll(() => server.stop());

const run = fakeRun('run-1');
const { evaluate } = createActivities(
  portsWith({ 'default/judge/key': 'canary', 'default/judge/url': 'none' }),
);
const secret = (key: string) => ({ secret: { namespace: 'default', name: 'judge', key } });

const ask = (call: Partial<EvaluatorCall> = {}, attempt: Partial<Attempt> = {}) =>
  inActivity({ run: run.ref, runs: new FakeRuns(run), activityId: 'evaluate', ...attempt }, () =>
    evaluate({
      address: { value: server.url },
      access,
      request: { type: 'direct', parameters: { a: '1', b: '2' } },
      timeoutMs: 60_000,
      ...call,
    }),
  );

const asked = () => JSON.parse(server.requests.at(-1)?.body ?? '') as unknown;

test('the request goes out as it is', async () => {
  expect(await ask()).toEqual({ score: '0.9', passed: true, metadata: {} });
  expect(asked()).toEqual({ type: 'direct', parameters: { a: '1', b: '2' } });
});

test('parameters come over those of the request; one that cannot be read is left out', async () => {
  await ask({ parameters: { b: { value: 'two' }, key: secret('key'), none: secret('none') } });
  expect(asked()).toEqual({ type: 'direct', parameters: { a: '1', b: 'two', key: 'canary' } });
});

test('every attempt bears the same key, a re-run another one', async () => {
  await ask();
  await ask({}, { attempt: 2 });
  await ask({}, { run: { ...run.ref, runId: 'run-2' } });
  const [first, again, other] = server.requests.slice(-3).map(({ key }) => key);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test.each<[JournaledReply, string, boolean]>([
  [{ status: 500 }, 'EvaluatorUnavailable', true],
  [{ status: 429 }, 'EvaluatorUnavailable', true],
  [{ status: 408 }, 'EvaluatorUnavailable', true],
  [{ status: 422 }, 'EvaluatorRejected', false],
  [{ body: 'oops' }, 'EvaluatorRejected', false],
  [{ body: '{"error":"no judge"}' }, 'EvaluatorRejected', false],
])('%j is %s', async (answer, type, retryable) => {
  reply = answer;
  await expect(ask()).rejects.toMatchObject({ type, nonRetryable: !retryable });
});

test('no answer in time is EvaluatorUnavailable', async () => {
  reply = 'hang';
  const timeout = { type: 'EvaluatorUnavailable', nonRetryable: false };
  await expect(ask({ timeoutMs: 200 })).rejects.toMatchObject(timeout);
});

test('a secret that the evaluator quotes does not come back', async () => {
  reply = { body: '{"error":"bad key canary"}' };
  await expect(ask({ parameters: { key: secret('key') } })).rejects.toMatchObject({
    message: 'evaluator returned error: bad key [redacted]',
  });
});

test('an address that cannot be read is a failure of its own', async () => {
  await expect(ask({ address: secret('none') })).rejects.toMatchObject({
    type: 'SecretUnavailable',
    message: 'failed to resolve evaluator address: key none not found in secret default/judge',
  });
});
