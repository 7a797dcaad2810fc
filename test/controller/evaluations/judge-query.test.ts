import { judgeQuery } from '../../../src/controller/evaluations/judge-query.ts';
import { EvaluationWorld } from '../../fakes/evaluations.ts';

let world: EvaluationWorld;
const selector = { resourceType: 'Query', matchLabels: { judged: 'yes' } };
const parameters = [{ name: 'key', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }];
const spec = { address: { value: 'http://judge' }, selector, parameters };
beforeEach(() => {
  world = new EvaluationWorld();
  world.evaluator('judge', { spec });
  world.evaluator('bystander');
  world.query('q1', 'done', { labels: { judged: 'yes' } });
});

const look = (name = 'q1') => judgeQuery({ namespace: 'default', name }, world.ports);

test('a finished Query that is selected gets an Evaluation, once', async () => {
  expect(await look()).toBe('settled');
  await look();
  expect([...world.evaluations.keys()]).toEqual(['default/judge-q1-eval']);
  expect(world.get('judge-q1-eval')).toMatchObject({
    labels: {
      'ark.mckinsey.com/evaluator': 'judge',
      'ark.mckinsey.com/query': 'q1',
      'ark.mckinsey.com/auto': 'true',
    },
    annotations: { 'ark.mckinsey.com/query-generation': '1', 'ark.mckinsey.com/query-phase': 'done' },
    spec: {
      type: 'query',
      config: { queryRef: { name: 'q1', namespace: 'default' } },
      evaluator: { name: 'judge', namespace: 'default', parameters },
    },
  });
});

test.each<[string, () => void]>([
  ['is running', () => world.query('q1', 'running', { labels: { judged: 'yes' } })],
  ['failed', () => world.query('q1', 'error', { labels: { judged: 'yes' } })],
  ['is not selected', () => world.query('q1', 'done')],
  ['is being deleted', () => world.query('q1', 'done', { labels: { judged: 'yes' }, isDeleted: true })],
  ['has gone', () => world.queries.clear()],
  ['is elsewhere', () => world.evaluator('judge', { spec, namespace: 'other' })],
  [
    'is not where its judge is',
    () => world.query('q1', 'done', { labels: { judged: 'yes' }, namespace: 'other' }),
  ],
  ['has a judge that is not ready', () => world.evaluator('judge', { spec, status: { phase: 'running' } })],
  [
    'has a judge whose selector is none',
    () =>
      world.evaluator('judge', {
        spec: {
          ...spec,
          selector: { resourceType: 'Query', matchExpressions: [{ key: 'a', operator: 'Like' }] },
        },
      }),
  ],
])('a Query that %s gets none', async (_, change) => {
  if (_ === 'is elsewhere') world.evaluators.clear();
  change();
  await look();
  expect(world.evaluations.size).toBe(0);
});

test.each([
  ['changed', { generation: 2 }],
  ['was made again', { uid: 'another' }],
])('a Query that %s is judged again', async (_, change) => {
  await look();
  const { uid } = world.get('judge-q1-eval');
  world.query('q1', 'done', { labels: { judged: 'yes' }, ...change });
  expect(await look()).toEqual({ requeueAfterMs: 500 });
  await look();
  expect(world.get('judge-q1-eval').uid).not.toBe(uid);
  expect(world.get('judge-q1-eval').status).toEqual({});
});

test("an Evaluation of that name that is somebody else's stays", async () => {
  const { uid } = world.add('judge-q1-eval', {});
  await look();
  expect(world.get('judge-q1-eval').uid).toBe(uid);
});

test('long names are shortened, and stay apart', async () => {
  for (const end of ['a', 'b']) {
    const name = `${'q'.repeat(252)}${end}`;
    world.query(name, 'done', { labels: { judged: 'yes' } });
    await look(name);
  }
  const all = [...world.evaluations.values()];
  expect(all).toHaveLength(2);
  for (const { name, labels } of all) {
    expect(name).toHaveLength(253);
    expect(labels['ark.mckinsey.com/query']).toHaveLength(63);
  }
});
