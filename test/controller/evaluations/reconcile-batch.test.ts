import type { EvaluationStatus } from '../../../src/api/evaluation.ts';
import { reconcileEvaluation } from '../../../src/controller/evaluations/reconcile-evaluation.ts';
import { EvaluationWorld } from '../../fakes/evaluations.ts';

let world: EvaluationWorld;
beforeEach(() => {
  world = new EvaluationWorld();
  world.evaluator('judge');
});

const look = (name = 'b') => reconcileEvaluation({ namespace: 'default', name }, world.ports);
const status = (name = 'b') => world.get(name).status;
const direct = (output: string) => ({
  type: 'direct',
  evaluator: { name: 'judge', parameters: [{ name: 'p', value: 'v' }] },
  config: { input: 'Hi', output },
  timeout: '1m',
});
const batchOf = (evaluations: readonly { name: string; namespace?: string }[], more: object = {}) => ({
  type: 'batch',
  ttl: '9h',
  evaluator: { name: 'judge' },
  config: { evaluations, ...more },
});

function endChild(index: number, end: Partial<EvaluationStatus>) {
  const child = world.get(`b-child-${index}`);
  world.evaluations.set(`default/${child.name}`, { ...child, status: { phase: 'done', ...end } });
}

test('its children are copies of what it names', async () => {
  world.add('one', direct('1'));
  world.add('two', { type: 'query', config: { queryRef: { name: 'q' } } }, { namespace: 'other' });
  world.evaluations.set('other/two', world.evaluations.get('other/two') ?? world.get('one'));
  world.add('b', batchOf([{ name: 'one' }, { name: 'two', namespace: 'other' }]));
  await look();

  expect(world.get('b-child-0')).toMatchObject({
    labels: { 'parent-evaluation': 'b', 'child-index': '0' },
    spec: {
      type: 'direct',
      config: { input: 'Hi', output: '1' },
      evaluator: { name: 'judge', namespace: 'default', parameters: [{ name: 'p', value: 'v' }] },
      timeout: '1m',
      ttl: '9h',
    },
  });
  expect(world.get('b-child-1').spec).toEqual({
    type: 'query',
    config: { queryRef: { name: 'q', namespace: 'other' } },
    evaluator: { name: 'judge', namespace: 'default' },
    ttl: '9h',
  });
  expect(status()).toMatchObject({ phase: 'running' });
});

test('at most `concurrency` of them are open', async () => {
  const names = ['e0', 'e1', 'e2'].map((name) => ({ name }));
  for (const { name } of names) world.add(name, direct(name));
  world.add('b', batchOf(names, { concurrency: 2 }));
  await look();
  await look();
  expect([...world.evaluations.keys()].filter((key) => key.includes('child'))).toHaveLength(2);
  endChild(0, {});
  await look();
  expect([...world.evaluations.keys()].filter((key) => key.includes('child'))).toHaveLength(3);
  expect(status().batchProgress).toMatchObject({ total: 3, completed: 1, running: 1 });
});

const usage = { promptTokens: 2, completionTokens: 1, totalTokens: 3 };

test.each<[string, Partial<EvaluationStatus>[], Partial<EvaluationStatus>]>([
  [
    'all passed',
    [
      { score: '0.8', passed: true, tokenUsage: usage },
      { score: '0.7', passed: true, tokenUsage: usage },
    ],
    {
      score: '0.750',
      passed: true,
      message: 'Batch evaluation completed: 2/2 children passed',
      tokenUsage: { promptTokens: 4, completionTokens: 2, totalTokens: 6 },
    },
  ],
  [
    'one did not pass',
    [
      { score: '1', passed: true },
      { score: '0.3333', passed: false },
    ],
    { score: '0.667', passed: false, message: 'Batch evaluation completed: 1/2 children passed' },
  ],
  [
    'one failed',
    [
      { score: '0.5', passed: true },
      { phase: 'error', passed: false, message: 'Evaluator call failed' },
    ],
    { score: '0.500', passed: false },
  ],
  ['all failed', [{ phase: 'error' }, { phase: 'canceled' }], { score: '0.000', passed: false }],
])('ends with its children: %s', async (_, ends, expected) => {
  const names = ends.map((__, index) => ({ name: `e${index}` }));
  for (const { name } of names) world.add(name, direct(name));
  world.add('b', batchOf(names));
  await look();
  for (const [index, end] of ends.entries()) endChild(index, end);
  await look();
  expect(status()).toMatchObject({ phase: 'done', ...expected });
  expect(status().batchProgress?.childEvaluations?.map(({ name }) => name)).toEqual([
    'b-child-0',
    'b-child-1',
  ]);
});

test('what it names is waited for, not for ever', async () => {
  world.add('b', batchOf([{ name: 'one' }]));
  await look();
  const message = "Failed to fetch Evaluation: evaluation 'one' not found in namespace 'default'";
  expect(status()).toMatchObject({ phase: 'pending', message: `Waiting: ${message}` });
  world.later(60_000);
  await look();
  expect(status()).toMatchObject({ phase: 'error', message });
});

test.each<[string, object, string]>([
  [
    'a batch',
    batchOf([{ name: 'b' }]),
    "Batch evaluation cannot contain evaluation 'b': it is a batch itself",
  ],
  [
    'too many',
    batchOf(Array.from({ length: 201 }, () => ({ name: 'one' }))),
    'Batch evaluation has more than 200 evaluations',
  ],
])('of %s is refused', async (_, spec, message) => {
  world.add('b', spec);
  await look();
  expect(status()).toMatchObject({ phase: 'error', message });
});

test('ends when its time is up', async () => {
  world.add('one', direct('1'));
  world.add('b', batchOf([{ name: 'one' }]));
  await look();
  world.later(300_000);
  await look();
  expect(status()).toMatchObject({
    phase: 'error',
    message: 'Batch evaluation did not end within 300s (spec.timeout)',
  });
});
