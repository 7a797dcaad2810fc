import type { EvaluatorReply } from '../../../src/api/run.ts';
import { reconcileEvaluation } from '../../../src/controller/evaluations/reconcile-evaluation.ts';
import { EvaluationWorld } from '../../fakes/evaluations.ts';

let world: EvaluationWorld;
beforeEach(() => {
  world = new EvaluationWorld();
  world.evaluator('judge');
  world.query('q1', 'done');
});

const look = (name = 'e') => reconcileEvaluation({ namespace: 'default', name }, world.ports);
const request = (name = 'e') => world.started.get(world.get(name).uid)?.call.request;
const status = (name = 'e') => world.get(name).status;

const evaluator = { name: 'judge' };
const direct = { type: 'direct', evaluator, config: { input: 'Hi', output: 'Hello' } };
const rules = [
  { name: 'r1', expression: 'true', weight: 1 },
  { name: 'r2', expression: 'false' },
];
const event = { type: 'event', evaluator, config: { rules } };
const query = { type: 'query', evaluator, config: { queryRef: { name: 'q1' } } };
const baseline = { type: 'baseline', evaluator, config: {} };
const judged: EvaluatorReply = { score: '0.9', passed: true, metadata: { reasoning: 'complete' } };

describe('what the evaluator is asked (contract 7.3)', () => {
  const home = { 'model.namespace': 'default' };

  test.each<[string, object, object]>([
    ['direct', direct, { config: { input: 'Hi', output: 'Hello' }, parameters: home }],
    ['no type', { ...direct, type: undefined }, { type: 'direct' }],
    [
      'query',
      query,
      {
        config: { queryRef: { name: 'q1', namespace: 'default' } },
        parameters: { ...home, queryRef: 'default/q1' },
      },
    ],
    [
      'a target of a query',
      { ...query, config: { queryRef: { name: 'q1', namespace: 'default', responseTarget: 'agent:bot' } } },
      { config: { queryRef: { name: 'q1', namespace: 'default', responseTarget: 'agent:bot' } } },
    ],
    ['baseline', baseline, { config: {}, parameters: home }],
    ['event', event, { config: { rules }, parameters: {} }],
    [
      'event of a query',
      { ...event, config: { rules, queryRef: { name: 'q2' } } },
      { parameters: { 'query.name': 'q2', 'query.namespace': 'default' } },
    ],
    [
      'event of a query it names itself',
      {
        ...event,
        config: { rules, queryRef: { name: 'q2' } },
        evaluator: { ...evaluator, parameters: [{ name: 'query.name', value: 'other' }] },
      },
      { parameters: { 'query.name': 'other', 'query.namespace': 'default' } },
    ],
  ])('%s', async (_, spec, expected) => {
    world.add('e', spec);
    await look();
    expect(request()).toMatchObject({
      evaluatorName: 'judge',
      type: (spec as { type?: string }).type ?? 'direct',
    });
    expect(request()).toMatchObject(expected);
    expect(status()).toMatchObject({ phase: 'running', message: 'Starting evaluation', passed: false });
  });

  test('is, of a query, the request of contract section 14', async () => {
    world.add('e', query);
    await look();
    expect(request()).toEqual({
      type: 'query',
      config: { queryRef: { name: 'q1', namespace: 'default' } },
      parameters: { queryRef: 'default/q1', 'model.namespace': 'default' },
      evaluatorName: 'judge',
    });
  });

  test.each([
    ['direct', direct, 30_000],
    ['baseline', baseline, 120_000],
    ['a short timeout', { ...direct, timeout: '5s' }, 5_000],
  ])('the bounds of %s', async (_, spec, attemptMs) => {
    world.add('e', spec);
    await look();
    const timeoutMs = 'timeout' in spec ? 5_000 : 300_000;
    expect(world.started.get(world.get('e').uid)).toMatchObject({
      timeoutMs,
      call: { timeoutMs: attemptMs },
    });
  });

  test('an address in a Secret stays there', async () => {
    world.evaluator('judge', {
      spec: { address: { valueFrom: { secretKeyRef: { name: 's', key: 'url' } } } },
    });
    world.add('e', direct);
    await look();
    expect(world.started.get(world.get('e').uid)?.call).toMatchObject({
      address: { secret: { namespace: 'default', name: 's', key: 'url' } },
    });
  });

  test('an Evaluator elsewhere has its address there, and the Evaluation its parameters here', async () => {
    const valueFrom = { secretKeyRef: { name: 's', key: 'url' } };
    world.evaluator('judge', { namespace: 'shared', spec: { address: { valueFrom } } });
    world.add('e', { ...direct, evaluator: { ...evaluator, namespace: 'shared' } });
    await look();
    expect(world.started.get(world.get('e').uid)?.call).toMatchObject({
      address: { secret: { namespace: 'shared', name: 's', key: 'url' } },
      addressAccess: { namespace: 'shared', serviceAccount: 'default' },
      access: { namespace: 'default', serviceAccount: 'default' },
    });
  });

  describe('parameters', () => {
    const parameters = [
      { name: 'a', value: 'own' },
      { name: 'c', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } },
      { name: 's', valueFrom: { secretKeyRef: { name: 'keys', key: 'k' } } },
      { name: 'none', valueFrom: { configMapKeyRef: { name: 'absent', key: 'k' } } },
    ];
    const withParameters = { evaluator: { ...evaluator, parameters } };
    beforeEach(() => {
      world.configMaps.set('default/m', { k: 'from a map' });
      world.evaluator('judge', {
        spec: {
          address: { value: 'http://judge' },
          parameters: [
            { name: 'a', value: 'of the evaluator' },
            { name: 'b', value: 'of the evaluator' },
            { name: 'd', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } },
          ],
        },
      });
    });

    test("the Evaluator's literals, and over them the Evaluation's own", async () => {
      world.add('e', { ...direct, ...withParameters });
      await look();
      expect(request()?.parameters).toEqual({
        a: 'own',
        b: 'of the evaluator',
        c: 'from a map',
        'model.namespace': 'default',
      });
    });

    test('a Secret is a reference up to the call', async () => {
      world.add('e', { ...direct, ...withParameters });
      await look();
      expect(world.started.get(world.get('e').uid)?.call.parameters).toEqual({
        s: { secret: { namespace: 'default', name: 'keys', key: 'k' } },
      });
    });

    test('an event has literals only', async () => {
      world.add('e', { ...event, ...withParameters });
      await look();
      expect(request()?.parameters).toEqual({ a: 'own', b: 'of the evaluator' });
    });

    test.each([
      ['exists', true, 'models'],
      ['does not exist', false, 'default'],
    ])("a model's namespace counts where the model %s", async (_, exists, namespace) => {
      if (exists) world.models.add('models/gpt');
      const model = [
        { name: 'model.name', value: 'gpt' },
        { name: 'model.namespace', value: 'models' },
      ];
      world.add('e', { ...direct, evaluator: { ...evaluator, parameters: model } });
      await look();
      expect(request()?.parameters).toMatchObject({ 'model.namespace': namespace });
    });
  });
});

describe('what becomes of a judgement', () => {
  test.each<[string, object, string]>([
    ['direct', direct, 'Direct evaluation completed successfully'],
    ['query', query, 'Query evaluation completed successfully'],
    ['baseline', baseline, 'Baseline evaluation completed successfully'],
    ['event', event, 'Event evaluation completed with 2 rules - passed (score: 0.9)'],
  ])('%s', async (_, spec, message) => {
    world.add('e', spec);
    await look();
    const usage = { promptTokens: 3, completionTokens: 1, totalTokens: 4 };
    world.close('e', { ...judged, usage });
    await look();
    expect(status()).toEqual({
      phase: 'done',
      message,
      score: '0.9',
      passed: true,
      tokenUsage: usage,
      duration: '1.5s',
    });
    expect(world.get('e').annotations).toEqual({ 'evaluation.metadata/reasoning': 'complete' });
  });

  test('is there as a whole once it is `done`', async () => {
    world.add('e', direct);
    await look();
    world.close('e', judged);
    const { evaluations } = world.ports;
    let remarks: object = {};
    const ports = {
      ...world.ports,
      evaluations: {
        ...evaluations,
        writeStatus(...[written, said]: Parameters<typeof evaluations.writeStatus>) {
          if (said.phase === 'done') remarks = world.get('e').annotations;
          return evaluations.writeStatus(written, said);
        },
      },
    };
    await reconcileEvaluation({ namespace: 'default', name: 'e' }, ports);
    expect(remarks).toEqual({ 'evaluation.metadata/reasoning': 'complete' });
  });

  test('a score of a hundred is one of one, and kept as it was', async () => {
    world.add('e', event);
    await look();
    world.close('e', { score: '65', passed: false, metadata: {} });
    await look();
    expect(status()).toMatchObject({
      phase: 'done',
      score: '0.65',
      passed: false,
      message: 'Event evaluation completed with 2 rules - failed (score: 0.65)',
    });
    expect(world.get('e').annotations).toEqual({ 'evaluation.metadata/raw-score': '65' });
  });

  test.each<[string, object, string]>([
    ['direct', direct, 'Evaluator call failed: evaluator returned status 422'],
    ['query', query, 'Query evaluation failed: evaluator returned status 422'],
    ['baseline', baseline, 'Baseline evaluation failed: evaluator returned status 422'],
    ['event', event, 'Evaluation failed: evaluator returned status 422'],
  ])('that failed: %s', async (_, spec, message) => {
    world.add('e', spec);
    await look();
    world.close('e', { type: 'EvaluatorRejected', message: 'evaluator returned status 422' });
    await look();
    expect(status()).toEqual({ phase: 'error', message, passed: false, duration: '1.5s' });
  });

  test('that was canceled in Temporal', async () => {
    world.add('e', direct);
    await look();
    world.close('e', { type: 'RunCanceled', message: 'the run was canceled' });
    await look();
    expect(status()).toMatchObject({ phase: 'canceled' });
  });
});

describe('what cannot be judged', () => {
  test.each<[string, object, string]>([
    ['no input', { ...direct, config: { output: 'x' } }, 'Direct evaluation requires non-empty input'],
    ['no output', { ...direct, config: { input: 'x' } }, 'Direct evaluation requires non-empty output'],
    ['neither', { ...direct, config: {} }, 'Direct evaluation requires non-empty input'],
    ['no queryRef', { ...query, config: {} }, 'Query evaluation requires queryRef in config'],
    ['no rules', { ...event, config: {} }, 'Event evaluation requires rules in config'],
    [
      'no evaluations',
      { type: 'batch', evaluator, config: {} },
      'Batch evaluation requires at least one evaluation in config.evaluations',
    ],
    ['no time', { ...direct, timeout: '0s' }, 'spec.timeout leaves no time'],
    ['nobody', { ...direct, evaluator: undefined }, 'Evaluator validation failed: no evaluator is named'],
    [
      'a Query that failed',
      { ...query, config: { queryRef: { name: 'broken' } } },
      "Failed to fetch Query: query 'broken' is not complete (phase: error)",
    ],
  ])('%s', async (_, spec, message) => {
    world.query('broken', 'error');
    world.add('e', spec);
    await look();
    expect(status()).toEqual({ phase: 'error', message, passed: false });
    expect(world.started.size).toBe(0);
  });

  test.each<[string, object, number, string]>([
    [
      'an Evaluator that is not there',
      { ...direct, evaluator: { name: 'none' } },
      60_000,
      "Evaluator validation failed: evaluator 'none' not found in namespace 'default'",
    ],
    [
      'an Evaluator that is not ready',
      { ...direct, evaluator: { name: 'slow' } },
      60_000,
      "Evaluator validation failed: evaluator 'slow' is not ready (current phase: running)",
    ],
    [
      'a Query that is not there',
      { ...query, config: { queryRef: { name: 'none' } } },
      60_000,
      "Failed to fetch Query: query 'none' not found in namespace 'default'",
    ],
    [
      'a Query that is running',
      { ...query, config: { queryRef: { name: 'long' } } },
      300_000,
      "Failed to fetch Query: query 'long' is not complete (phase: running)",
    ],
  ])('%s is waited for, not for ever', async (_, spec, patienceMs, message) => {
    world.evaluator('slow', { status: { phase: 'running', lastResolvedAddress: 'http://before' } });
    world.query('long', 'running');
    world.add('e', spec);
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    expect(status()).toEqual({ phase: 'pending', message: `Waiting: ${message}`, passed: false });

    world.later(patienceMs - 1);
    await look();
    expect(status()).toMatchObject({ phase: 'pending' });
    world.later(1);
    await look();
    expect(status()).toEqual({ phase: 'error', message, passed: false });
  });

  test('what is waited for may come', async () => {
    world.add('e', { ...direct, evaluator: { name: 'late' } });
    await look();
    world.evaluator('late');
    await look();
    expect(status()).toMatchObject({ phase: 'running' });
  });
});

describe('an Evaluation', () => {
  test('is asked once, however often it is looked at and whatever is lost', async () => {
    world.add('e', direct);
    world.losesStart = true;
    await expect(look()).rejects.toThrow('lost');
    world.evaluators.clear();
    await look();
    expect(status()).toMatchObject({ phase: 'running' });
    world.close('e', judged);
    await look();
    world.runs.clear();
    await look();
    expect(status()).toMatchObject({ phase: 'done', score: '0.9' });
    expect(world.started.size).toBe(1);
  });

  test('that is deleted ends its run, unless it had ended', async () => {
    const { uid } = world.add('e', direct);
    world.add('ended', direct, { status: { phase: 'done' } });
    await look();
    world.vanish('e');
    world.vanish('ended');
    expect(await look()).toBe('settled');
    await look('ended');
    await look();
    expect(world.canceled).toEqual([uid]);
  });

  test('is deleted when its ttl is over and it has ended', async () => {
    world.add('e', { ...direct, ttl: '1h' });
    await look();
    world.later(2 * 3_600_000);
    await look();
    expect(status()).toMatchObject({ phase: 'running' });
    world.close('e', judged);
    await look();
    expect(world.evaluations.size).toBe(0);
  });

  test('that has ended comes again at its end of life', async () => {
    world.add('e', { ...direct, ttl: '1h' }, { status: { phase: 'error' } });
    expect(await look()).toEqual({ requeueAfterMs: 3_600_000 });
  });
});
