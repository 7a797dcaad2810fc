import { createEvaluators } from '../../../src/adapters/evaluators/create-evaluators.ts';
import type { JournaledReply } from '../../../src/dev/journaled-server.ts';
import { startEvaluatorServer, type EvaluatorServer } from '../../fakes/evaluator-server.ts';

const evaluators = createEvaluators();
const started: EvaluatorServer[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
});
afterAll(() => evaluators.close());

async function evaluator(reply?: JournaledReply): Promise<EvaluatorServer> {
  const server = await startEvaluatorServer(reply && (() => reply));
  started.push(server);
  return server;
}

const request = { type: 'direct', config: { input: 'é' }, parameters: {}, evaluatorName: 'judge' };
const options = { signal: new AbortController().signal, timeoutMs: 60_000, idempotencyKey: 'k' };
const body = (content: unknown): JournaledReply => ({ body: JSON.stringify(content) });

test('an evaluator is posted to at its address as it is', async () => {
  const { url, requests } = await evaluator();
  expect(
    await evaluators.evaluate(`${url}?v=1`, request, options).catch((error: unknown) => error),
  ).toMatchObject({
    status: 404,
  });
  expect(await evaluators.evaluate(url, request, options)).toEqual({
    score: '0.9',
    passed: true,
    metadata: { reasoning: 'complete' },
  });
  expect(requests.map(({ path }) => path)).toEqual(['/evaluate?v=1', '/evaluate']);
  expect(requests[1]).toMatchObject({ method: 'POST', body: JSON.stringify(request), key: 'k' });
  expect(requests[1]?.headers['content-type']).toBe('application/json');
});

describe('an answer', () => {
  test.each<[string, unknown, object]>([
    ['nothing', {}, { score: '', passed: false, metadata: {} }],
    ['a number', { score: 85, passed: true }, { score: '85', passed: true, metadata: {} }],
    [
      'nulls',
      { score: null, metadata: null, error: null, tokenUsage: null },
      { score: '', passed: false, metadata: {} },
    ],
    ['no truth', { score: 'A+', passed: 'true' }, { score: 'A+', passed: false, metadata: {} }],
    [
      'tokens',
      { score: '1', tokenUsage: { promptTokens: 9, completionTokens: 1, totalTokens: 10 } },
      { usage: { promptTokens: 9, completionTokens: 1, totalTokens: 10 } },
    ],
    [
      'metadata of any type',
      { metadata: { a: 'b', n: 1.5, o: { k: [1] }, z: null, t: true } },
      { metadata: { a: 'b', n: '1.5', o: '{"k":[1]}', z: 'null', t: 'true' } },
    ],
  ])('with %s', async (_, answer, reply) => {
    const { url } = await evaluator(body(answer));
    expect(await evaluators.evaluate(url, request, options)).toMatchObject(reply);
  });

  test('is bounded in every direction', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 70 }, (_, index) => [`${index}${'k'.repeat(500)}`, 'v'.repeat(9_999)]),
    );
    const { url } = await evaluator(body({ score: '1'.repeat(999), metadata }));
    const reply = await evaluators.evaluate(url, request, options);

    expect(reply.score).toHaveLength(256);
    const entries = Object.entries(reply.metadata);
    expect(entries).toHaveLength(64);
    for (const [key, value] of entries) {
      expect(key).toHaveLength(128);
      expect(value).toMatch(/^v{4095}…$/);
    }
  });
});

describe('a failure', () => {
  test.each<[string, JournaledReply, object, string]>([
    ['status 422', { status: 422 }, { kind: 'status', status: 422 }, 'evaluator returned status 422'],
    [
      'status 202',
      { ...(body({}) as object), status: 202 },
      { kind: 'status' },
      'evaluator returned status 202',
    ],
    ['an error', body({ error: 'no judge' }), { kind: 'refused' }, 'evaluator returned error: no judge'],
    [
      'no JSON',
      { body: '' },
      { kind: 'protocol' },
      'failed to decode evaluation response: POST URL: the answer is empty',
    ],
    [
      'a text',
      body('ok'),
      { kind: 'protocol' },
      'failed to decode evaluation response: the answer is not an object',
    ],
    [
      'a score that is none',
      body({ score: {} }),
      { kind: 'protocol' },
      'failed to decode evaluation response: score is neither a text nor a number',
    ],
    [
      'too much',
      body({ score: 'x'.repeat(1024 * 1024) }),
      { kind: 'too-large' },
      'failed to decode evaluation response: POST URL: the answer is longer than 1048576 bytes',
    ],
  ])('%s', async (_, reply, facts, message) => {
    const { url } = await evaluator(reply);
    await expect(evaluators.evaluate(url, request, options)).rejects.toMatchObject({
      ...facts,
      sent: true,
      message: message.replace('URL', url),
    });
  });

  test('of the network', async () => {
    const { url, stop } = await evaluator();
    await stop();
    const message = expect.stringMatching(/^failed to call evaluator: POST http.*ECONNREFUSED/) as string;
    await expect(evaluators.evaluate(url, request, options)).rejects.toMatchObject({
      kind: 'network',
      sent: false,
      message,
    });
  });

  test('to answer in time', async () => {
    const { url } = await evaluator('hang');
    await expect(evaluators.evaluate(url, request, { ...options, timeoutMs: 2_000 })).rejects.toMatchObject({
      kind: 'timeout',
      sent: true,
      message: `failed to call evaluator: POST ${url}: no answer within 2 s`,
    });
  });
});
