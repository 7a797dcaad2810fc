import { asking, built, model, refused, type Shelf } from './shelf.ts';

const bot: Shelf = { models: { default: model }, agents: { bot: {} } };
const evaluator = { address: { value: 'http://judge' } };
const names = (count: number) => Array.from({ length: count }, (_, n) => `judge-${n}`);

async function judges(shelf: Shelf, spec: object) {
  const { evaluation, definitions } = await built({ ...bot, ...shelf }, spec);
  return evaluation?.evaluators.map(({ name, definition }) => ({ name, ...definitions[definition] }));
}

test('evaluators keep the order of the spec, and each has its address from its own namespace', async () => {
  const shelf: Shelf = {
    evaluators: {
      strict: evaluator,
      'shared/kind': { address: { valueFrom: { serviceRef: { name: 'judge', path: 'evaluate' } } } },
    },
    services: { 'shared/judge': [{ port: 8000 }] },
  };
  const spec = { evaluators: [{ name: 'strict' }, { name: 'kind', namespace: 'shared' }] };
  const access = { namespace: 'default', serviceAccount: 'default' };
  expect(await judges(shelf, spec)).toEqual([
    { kind: 'evaluator', namespace: 'default', name: 'strict', address: { value: 'http://judge' }, access },
    {
      kind: 'evaluator',
      namespace: 'shared',
      name: 'kind',
      address: { value: 'http://judge.shared.svc.cluster.local:8000/evaluate' },
      access,
    },
  ]);
});

test('a selector matches those of the Query’s namespace, by name', async () => {
  const shelf: Shelf = {
    evaluators: { zoe: evaluator, amy: evaluator, bob: evaluator, 'shared/max': evaluator },
    labels: { zoe: { of: 'talks' }, amy: { of: 'talks' }, max: { of: 'talks' }, bob: { of: 'tools' } },
  };
  const select = (of: string) => ({ evaluatorSelector: { matchLabels: { of } } });
  expect((await judges(shelf, select('talks')))?.map(({ name }) => name)).toEqual(['amy', 'zoe']);
  expect(await judges(shelf, select('nothing'))).toBeUndefined();
});

describe('evaluators are shown the Query as it was written', () => {
  async function shown(more: object) {
    const { spec } = asking({ evaluators: [{ name: 'judge' }], ...more });
    const shelf = { ...bot, evaluators: { judge: evaluator } };
    const snapshot = await built(shelf, spec, { labels: { a: 'b' }, annotations: { c: 'd' } });
    const { evaluation, definitions } = snapshot;
    return { spec, snapshot, queried: evaluation && definitions[evaluation.queried] };
  }

  test('with its template where its input is one', async () => {
    const parameters = [{ name: 'city', value: 'Oslo' }];
    const { spec, queried } = await shown({ input: 'How is {{.city}}?', parameters });
    expect(queried).toEqual({
      kind: 'queried',
      query: {
        apiVersion: 'ark.mckinsey.com/v1alpha1',
        kind: 'Query',
        metadata: {
          namespace: 'default',
          name: 'hello',
          uid: '6f1c',
          labels: { a: 'b' },
          annotations: { c: 'd' },
          creationTimestamp: '1970-01-01T00:00:00.000Z',
        },
        spec,
      },
    });
  });

  test('and an input that is what was asked is kept once', async () => {
    const { snapshot, queried } = await shown({ input: 'How is Oslo?' });
    expect(queried).toMatchObject({ input: snapshot.question });
    expect(queried).not.toHaveProperty('query.spec.input');
  });
});

test.each<[string, Shelf, object, string, string]>([
  [
    'one that is not there',
    {},
    { evaluators: [{ name: 'judge' }] },
    'DefinitionNotFound',
    'failed to get evaluator judge: evaluators.ark.mckinsey.com "judge" not found',
  ],
  [
    'one that may not be read',
    { evaluators: { judge: evaluator }, forbidden: ['evaluators default/judge'] },
    { evaluators: [{ name: 'judge' }] },
    'AccessDenied',
    'failed to get evaluator judge: forbidden',
  ],
  [
    'one that is nowhere',
    { evaluators: { judge: { address: { valueFrom: { serviceRef: { name: 'judge' } } } } } },
    { evaluators: [{ name: 'judge' }] },
    'DefinitionNotFound',
    'failed to resolve evaluator address: failed to get service default/judge: services "judge" not found',
  ],
  [
    'names and a selector',
    {},
    { evaluators: [{ name: 'judge' }], evaluatorSelector: { matchLabels: {} } },
    'QueryInvalid',
    'cannot specify both evaluators and evaluatorSelector',
  ],
  [
    'a selector that matches too many',
    { evaluators: Object.fromEntries(names(257).map((name) => [name, evaluator])) },
    { evaluatorSelector: {} },
    'QueryInvalid',
    'is judged by 257 evaluators; at most 256 can be asked',
  ],
])('a Query to be judged by %s is refused', async (_, shelf, spec, type, message) => {
  expect(await refused({ ...bot, ...shelf }, spec)).toMatchObject({ type, message });
});
